// SPDX-License-Identifier: Apache-2.0
//
// The fluid problems and the message patterns of io.weft.benchmarks.simgrid, on SimGrid. Built and run by
// io.weft.benchmarks.simgrid.SimGridComparison; see docs/benchmarks.md.
//
//   fluid solve FILE            finish times of the problems in a file (the format is FluidProblem's)
//   fluid PATTERN DEVICES       one message pattern (the patterns are MessagePattern's), timed
//
// Network model: CM02 with every correction factor at 1 and no weights by latency, which is plain max-min fairness.

#include <simgrid/s4u.hpp>

#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace sg4 = simgrid::s4u;

namespace {

// The machine of the message patterns: every device has a port of its own at one switch. Equal to MessagePattern.java.
constexpr double kPortBandwidth = 50e9;
constexpr double kLatency       = 500e-9;
constexpr double kFlops         = 600e12;

[[noreturn]] void refuse(const std::string& why)
{
  std::cerr << "fluid: " << why << '\n';
  std::exit(2);
}

void plain_max_min()
{
  for (const char* setting :
       {"network/model:CM02", "network/latency-factor:1", "network/bandwidth-factor:1", "network/weight-S:0",
        "network/TCP-gamma:0", "network/crosstraffic:0", "surf/precision:1e-12", "maxmin/precision:1e-9"})
    sg4::Engine::set_config(setting);
}

// ------------------------------------------------------------------------------------------------------------------
// Random fluid problems.

struct Flow {
  double start;
  uint64_t bytes;
  std::vector<int> links;
  double finish = -1;
};

struct Problem {
  std::string name;
  std::vector<double> capacity;
  std::vector<Flow> flows;
};

std::vector<Problem> read(const char* file)
{
  std::ifstream in(file);
  if (!in)
    refuse(std::string("cannot read ") + file);
  std::vector<Problem> problems;
  std::string line;
  while (std::getline(in, line)) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "problem") {
      problems.emplace_back();
      words >> problems.back().name;
    } else if (kind == "link" && !problems.empty()) {
      double capacity;
      words >> capacity;
      problems.back().capacity.push_back(capacity);
    } else if (kind == "flow" && !problems.empty()) {
      Flow flow;
      words >> flow.start >> flow.bytes;
      for (int link; words >> link;)
        flow.links.push_back(link);
      problems.back().flows.push_back(flow);
    } else if (!kind.empty()) {
      refuse("unknown line '" + line + "' in " + file);
    }
  }
  return problems;
}

// SimGrid has one engine for each process, so the problems stand side by side on one platform; they share nothing.
int solve(sg4::Engine& engine, const char* file)
{
  plain_max_min();
  std::vector<Problem> problems = read(file);
  auto* zone                    = sg4::create_full_zone("problems");
  for (size_t p = 0; p < problems.size(); p++) {
    Problem& problem = problems[p];
    // A zone for each problem keeps the routing tables small.
    auto* inner = sg4::create_full_zone("p" + std::to_string(p));
    inner->set_parent(zone);
    std::vector<const sg4::Link*> links;
    for (size_t l = 0; l < problem.capacity.size(); l++)
      links.push_back(
          inner->create_link("l" + std::to_string(p) + "." + std::to_string(l), problem.capacity[l])->set_latency(0)->seal());
    for (size_t f = 0; f < problem.flows.size(); f++) {
      Flow& flow      = problem.flows[f];
      std::string tag = std::to_string(p) + "." + std::to_string(f);
      auto* from      = inner->create_host("a" + tag, 1e9)->seal();
      auto* to        = inner->create_host("b" + tag, 1e9)->seal();
      std::vector<sg4::LinkInRoute> route;
      for (int l : flow.links)
        route.emplace_back(links.at(l));
      inner->add_route(from->get_netpoint(), to->get_netpoint(), nullptr, nullptr, route, false);
      sg4::Actor::create("f" + tag, from, [&flow, from, to] {
        sg4::this_actor::sleep_until(flow.start);
        sg4::Comm::sendto(from, to, flow.bytes);
        flow.finish = sg4::Engine::get_clock();
      });
    }
    inner->seal();
  }
  zone->seal();
  engine.run();
  for (const Problem& problem : problems) {
    std::printf("problem %s\n", problem.name.c_str());
    for (const Flow& flow : problem.flows)
      std::printf("%.12g\n", flow.finish);
  }
  return 0;
}

// ------------------------------------------------------------------------------------------------------------------
// Message patterns.

constexpr int kEngines = 8; // transfers that a device has in flight at once in the direct patterns
constexpr int kQueues  = 4; // products that it has

std::vector<sg4::Host*> star(int devices)
{
  auto* zone = sg4::create_star_zone("switch");
  std::vector<sg4::Host*> hosts;
  for (int d = 0; d < devices; d++) {
    std::string name = std::to_string(d);
    auto* host       = zone->create_host("d" + name, kFlops)->seal();
    // Half of the latency on each of a path's two links.
    auto* up   = zone->create_link("u" + name, kPortBandwidth)->set_latency(kLatency / 2)->seal();
    auto* down = zone->create_link("v" + name, kPortBandwidth)->set_latency(kLatency / 2)->seal();
    zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr, {sg4::LinkInRoute(up)}, false);
    zone->add_route(nullptr, host->get_netpoint(), nullptr, nullptr, {sg4::LinkInRoute(down)}, false);
    hosts.push_back(host);
  }
  zone->seal();
  return hosts;
}

uint64_t activities = 0;

// Each device passes a message on when its predecessor's has come in.
void ring(const std::vector<sg4::Host*>& hosts, int steps, uint64_t bytes)
{
  int devices = static_cast<int>(hosts.size());
  for (int d = 0; d < devices; d++) {
    sg4::Actor::create("r" + std::to_string(d), hosts[d], [=] {
      static char token;
      auto* out = sg4::Mailbox::by_name("m" + std::to_string((d + 1) % devices));
      auto* in  = sg4::Mailbox::by_name("m" + std::to_string(d));
      for (int step = 0; step < steps; step++) {
        auto sending = out->put_async(&token, bytes);
        in->get<char>();
        sending->wait();
        activities++;
      }
    });
  }
}

// Every device sends to every other, kEngines at once in rotating order. With flops, what arrives is multiplied there, in
// order of arrival, kQueues products at once beside one another, and the own shard first of all.
struct Products {
  sg4::SemaphorePtr ready = sg4::Semaphore::create(0);
  int left;
};

void direct(const std::vector<sg4::Host*>& hosts, int rounds, uint64_t bytes, double flops)
{
  int devices   = static_cast<int>(hosts.size());
  auto products = std::make_shared<std::vector<Products>>(flops > 0 ? devices : 0);
  for (int d = 0; d < devices; d++) {
    if (flops > 0) {
      (*products)[d].left = devices;
      (*products)[d].ready->release();
      for (int q = 0; q < kQueues; q++)
        sg4::Actor::create("q", hosts[d], [products, d, flops] {
          Products& mine = (*products)[d];
          while (mine.left > 0) {
            mine.left--;
            mine.ready->acquire();
            sg4::this_actor::execute(flops);
            activities++;
          }
        });
    }
    for (int e = 0; e < kEngines; e++) {
      sg4::Actor::create("e", hosts[d], [=, &hosts] {
        for (int round = 0; round < rounds; round++)
          for (int distance = 1 + e; distance < devices; distance += kEngines) {
            int to = (d + distance) % devices;
            sg4::Comm::sendto(hosts[d], hosts[to], bytes);
            activities++;
            if (flops > 0)
              (*products)[to].ready->release();
          }
      });
    }
  }
}

// Not getrusage: its figure starts with what the parent process had.
long peak_kib()
{
  std::ifstream status("/proc/self/status");
  for (std::string key; status >> key;)
    if (long kib; key == "VmHWM:" && status >> kib)
      return kib;
  return 0;
}

int timed(sg4::Engine& engine, const std::string& pattern, int devices)
{
  plain_max_min();
  // Actors are many and shallow.
  sg4::Engine::set_config("contexts/stack-size:32");
  sg4::Engine::set_config("contexts/guard-size:0");
  std::vector<sg4::Host*> hosts = star(devices);
  constexpr uint64_t kTensor    = 1 << 20;
  if (pattern == "ring-all-gather")
    ring(hosts, devices - 1, kTensor / devices);
  else if (pattern == "ring-all-reduce")
    ring(hosts, 2 * (devices - 1), kTensor / devices);
  else if (pattern == "direct-all-gather")
    direct(hosts, 1, kTensor / devices, 0);
  else if (pattern == "direct-all-reduce")
    direct(hosts, 2, kTensor / devices, 0);
  else if (pattern == "ficco-layer")
    direct(hosts, 1, uint64_t(64) * kTensor / devices, 1e12 / devices);
  else
    refuse("unknown pattern " + pattern);
  auto before = std::chrono::steady_clock::now();
  engine.run();
  std::chrono::duration<double> wall = std::chrono::steady_clock::now() - before;
  std::printf("%s %d %" PRIu64 " %.12g %.6f %ld\n", pattern.c_str(), devices, activities, sg4::Engine::get_clock(),
              wall.count(), peak_kib());
  return 0;
}

} // namespace

int main(int argc, char** argv)
{
  std::string quiet = "--log=root.thres:warning";
  std::vector<char*> words(argv, argv + argc);
  words.insert(words.begin() + 1, quiet.data());
  int count = static_cast<int>(words.size());
  sg4::Engine engine(&count, words.data());
  if (argc != 3)
    refuse("usage: fluid solve FILE | fluid PATTERN DEVICES");
  std::string what = argv[1];
  if (what == "solve")
    return solve(engine, argv[2]);
  int devices = std::atoi(argv[2]);
  if (devices < 2)
    refuse("expected a number of devices from 2 on, found " + std::string(argv[2]));
  return timed(engine, what, devices);
}
