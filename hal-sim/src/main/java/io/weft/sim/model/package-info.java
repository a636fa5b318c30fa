// SPDX-License-Identifier: Apache-2.0
/**
 * What commands cost on a machine, and when they run.
 *
 * <p>{@link io.weft.sim.model.CommandRuntime} runs commands in virtual time: streams of the simulated provider and whole graphs use the same one, so one
 * piece of work has one timeline. {@link io.weft.sim.model.GraphEstimator} predicts a graph on it. {@link io.weft.sim.model.CommandCosts} turns a command
 * into what it takes of which resource.
 */
package io.weft.sim.model;
