// SPDX-License-Identifier: Apache-2.0
package io.weft.spi.input;

import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A PCI address. Every interface spells it in its own way, and a wrong reading of one of them once cost 70 % of a library's bandwidth; so text is read here only, and {@link #toString()} writes the
 * kernel's form.
 *
 * @param domain PCI domain
 * @param bus 0 to 255
 * @param device 0 to 31
 * @param function 0 to 7
 */
public record PciAddress(int domain, int bus, int device, int function) implements Comparable<PciAddress> {
    private static final Pattern FORM =
            Pattern.compile("(?:([0-9a-f]{1,8})[:_])?([0-9a-f]{1,2})[:_]([0-9a-f]{1,2})(?:[._]([0-7]))?");

    public PciAddress {
        if (domain < 0 || bus < 0 || bus > 255 || device < 0 || device > 31 || function < 0 || function > 7) {
            throw new IllegalArgumentException("no PCI address: domain " + domain + ", bus " + bus + ", device "
                    + device + ", function " + function);
        }
    }

    /**
     * Reads {@code 0000:0c:00.0}, {@code 0c:00.0}, {@code 0000:0c:00}, {@code 00000000:0C:00.0} and {@code 0000_0c_00_0}, in any case.
     *
     * @return empty when it is none of them
     */
    public static Optional<PciAddress> parse(String text) {
        Matcher parts = FORM.matcher(text.strip().toLowerCase(Locale.ROOT));
        if (!parts.matches()) {
            return Optional.empty();
        }
        long domain = parts.group(1) == null ? 0 : Long.parseLong(parts.group(1), 16);
        int bus = Integer.parseInt(parts.group(2), 16);
        int device = Integer.parseInt(parts.group(3), 16);
        int function = parts.group(4) == null ? 0 : Integer.parseInt(parts.group(4));
        return domain > Integer.MAX_VALUE || device > 31
                ? Optional.empty()
                : Optional.of(new PciAddress((int) domain, bus, device, function));
    }

    /** Bus, device and function in 8, 5 and 3 bits, as the kernel packs them. */
    public int location() {
        return bus << 8 | device << 3 | function;
    }

    /** From a domain and what {@link #location()} gives; higher bits of the location are not part of the address. */
    public static PciAddress ofLocation(long domain, long location) {
        return new PciAddress(
                (int) (domain & 0x7fff_ffff), (int) (location >> 8 & 0xff), (int) (location >> 3 & 0x1f), (int)
                        (location & 7));
    }

    @Override
    public int compareTo(PciAddress other) {
        int byDomain = Integer.compare(domain, other.domain);
        return byDomain != 0 ? byDomain : Integer.compare(location(), other.location());
    }

    /** The kernel's form, such as {@code 0000:0c:00.0}. */
    @Override
    public String toString() {
        return String.format(Locale.ROOT, "%04x:%02x:%02x.%x", domain, bus, device, function);
    }
}
