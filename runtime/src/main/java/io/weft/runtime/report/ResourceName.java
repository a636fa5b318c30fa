// SPDX-License-Identifier: Apache-2.0
package io.weft.runtime.report;

import io.weft.api.graph.Timeline;

/** What a resource is called beside its device's name. */
final class ResourceName {
    private ResourceName() {}

    /** The resource's name without the device that it may start with, and with the word for its kind. */
    static String of(Timeline.Resource resource) {
        String device = "device " + resource.device() + " ";
        String name = resource.name().startsWith(device) ? resource.name().substring(device.length()) : resource.name();
        String kind = resource.kind() == Timeline.ResourceKind.LINK ? "link" : "engine";
        return name.startsWith(kind) ? name : kind + " " + name;
    }
}
