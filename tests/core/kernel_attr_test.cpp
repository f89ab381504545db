// SPDX-License-Identifier: Apache-2.0
//
// set_attr() and get_attr() beside the running kernel's sched_setattr() and sched_getattr(): the
// same structures, the same errors, the same attributes read back. The kernel's part is played by a
// child process that only sleeps, so a real-time policy costs nobody a CPU.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "core/attr_stream.hpp"
#include "core/one_cpu.hpp"
#include "vlag/attr.hpp"
#include "vlag/linux_sched.hpp"

namespace vlag {
namespace {

using test::attr_memory;
using test::attr_stream;
using test::one_cpu;
using test::us;

constexpr int steps = 20'000;
constexpr unsigned nobody = 65'534;

// A process that waits until it is killed. The limits that let an unprivileged caller raise it are
// zero.
class sleeper {
 public:
  explicit sleeper(bool as_nobody) {
    const pid_t parent = getpid();
    pid_ = ::fork();
    if (pid_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_NICE, &none);
    ::setrlimit(RLIMIT_RTPRIO, &none);
    if (as_nobody && ::syscall(SYS_setresuid, nobody, nobody, nobody) != 0) ::_exit(1);
    while (getppid() == parent) ::pause();
    ::_exit(0);
  }
  sleeper(const sleeper&) = delete;
  sleeper& operator=(const sleeper&) = delete;
  ~sleeper() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  [[nodiscard]] int pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

int kernel_set(int pid, attr_memory& memory) {
  return ::syscall(SYS_sched_setattr, pid, memory.data(), 0U) == 0 ? 0 : errno;
}

// What the running kernel has, found by asking for it.
struct kernel_traits {
  bool permits = false;      // the calls are there and this process may use them
  bool has_slices = false;   // 6.12 or later
  bool privileged = false;   // nice may be lowered
  bool real_time = false;    // FIFO may be asked for
  bool util_clamps = false;  // built with them
  std::uint64_t base_slice_ns = 0;
};

kernel_traits probe() {
  kernel_traits found;
  const sleeper victim(false);
  sched_attr attr;
  found.permits = kernel_get_attr(victim.pid(), attr) == 0;
  if (!found.permits) return found;
  found.base_slice_ns = attr.runtime_ns;
  found.has_slices = found.base_slice_ns != 0;
  attr = {};
  attr.size = sched_attr_size_ver1;
  found.permits = kernel_set_attr(victim.pid(), attr) == 0;
  attr.flags = sched_flag::util_clamp_min;
  found.util_clamps = kernel_set_attr(victim.pid(), attr) == 0;
  attr.flags = 0;
  attr.nice = -1;
  found.privileged = kernel_set_attr(victim.pid(), attr) == 0;
  attr.nice = 0;
  attr.policy = static_cast<std::uint32_t>(sched_policy::fifo);
  attr.rt_priority = 1;
  found.real_time = kernel_set_attr(victim.pid(), attr) == 0;
  return found;
}

// The model of one sleeping process, or of a caller without privileges.
struct model {
  model(std::uint64_t base_slice_ns, bool privileged)
      : cpu([&] {
          eevdf_config config;
          config.base_slice_ns = base_slice_ns;
          return config;
        }()) {
    set_initial_attributes(t, sched_policy::normal, 0);
    joined = cpu.fair.join_asleep(t, 0);
    host.context = this;
    host.enter_real_time = [](void* context, task& who, sched_policy, unsigned) noexcept {
      auto& m = *static_cast<model*>(context);
      if (m.joined) m.cpu.fair.remove(who, 0);
      m.joined = false;
      return true;
    };
    host.leave_real_time = [](void* context, task& who) noexcept {
      auto& m = *static_cast<model*>(context);
      m.joined = m.cpu.fair.join_asleep(who, 0);
    };
    if (!privileged) {
      host.permits = [](void*, const task&, attr_privilege) noexcept { return false; };
    }
  }
  model(const model&) = delete;
  model& operator=(const model&) = delete;

  int set(attr_memory& memory) { return static_cast<int>(set_attr(cpu.fair, &t, memory, 0, host)); }

  one_cpu cpu;
  task t;
  attr_host host;
  bool joined = false;
};

constexpr std::uint64_t util_flags = sched_flag::util_clamp_min | sched_flag::util_clamp_max;

void drop_flags(attr_memory& memory, std::uint64_t dropped) {
  std::uint64_t flags = 0;
  std::byte* const at = memory.data() + offsetof(sched_attr, flags);
  std::memcpy(&flags, at, sizeof flags);
  flags &= ~dropped;
  std::memcpy(at, &flags, sizeof flags);
}

sched_attr parse(const attr_memory& memory) {
  sched_attr attr;
  std::memcpy(static_cast<void*>(&attr), memory.data(), sizeof attr);
  return attr;
}

// What the model answers where the kernel was built without clamps: such a request is refused once
// all else about it is found right.
int set_without_util(model& m, attr_memory& memory) {
  const sched_attr asked = parse(memory);
  if ((asked.flags & util_flags) == 0 || asked.size < sched_attr_size_ver1) return m.set(memory);
  attr_memory without = memory;
  drop_flags(without, util_flags);
  model trial(m.cpu.config.base_slice_ns, m.host.permits == nullptr);
  task& t = trial.t;
  t.policy = m.t.policy;
  t.static_nice = m.t.static_nice;
  t.rt_priority = m.t.rt_priority;
  t.reset_on_fork = m.t.reset_on_fork;
  const int result = trial.set(without);
  std::memcpy(memory.data(), without.data(), sizeof asked.size);  // where a known size is told
  return result == 0 ? EOPNOTSUPP : result;
}

void expect_same_attributes(int pid, const model& m, const kernel_traits& kernel) {
  sched_attr theirs;
  ASSERT_EQ(kernel_get_attr(pid, theirs), 0);
  const sched_attr ours = attributes_of(m.cpu.fair, m.t);
  ASSERT_EQ(theirs.policy, ours.policy);
  ASSERT_EQ(theirs.flags, ours.flags);
  ASSERT_EQ(theirs.nice, ours.nice);
  ASSERT_EQ(theirs.rt_priority, ours.rt_priority);
  if (kernel.has_slices) {
    ASSERT_EQ(theirs.runtime_ns, ours.runtime_ns);
  }
  // A real-time task's clamp is the kernel's choice.
  if (kernel.util_clamps && ours.rt_priority == 0) {
    ASSERT_EQ(theirs.util_min, ours.util_min);
    ASSERT_EQ(theirs.util_max, ours.util_max);
  }
}

// Version 2 and its flag are not the kernel's; DEADLINE and SCHED_EXT (6, 7) are not ours.
attr_stream::choices known_to_both(bool real_time) {
  attr_stream::choices from{{0, 0, 0, 3, 3, 5, 4, 8, 99, 0x80000000U},
                            {0, 48, 48, 52, 56, 56, 56, 64, 128, 1, 47, 5'000},
                            {0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0x100},
                            sched_attr_size_ver1};
  if (real_time) from.policies.insert(from.policies.end(), {1, 1, 2, 2});
  return from;
}

// In a larger structure the flag of version 2 is a valid one for us alone.
attr_memory next_known_to_both(attr_stream& dice) {
  attr_memory memory = dice.next();
  if (parse(memory).size > sched_attr_size_ver1) drop_flags(memory, sched_flag::latency_nice);
  return memory;
}

void compare(std::uint64_t seed, const kernel_traits& kernel, const sleeper& victim,
             bool privileged) {
  model m(kernel.base_slice_ns != 0 ? kernel.base_slice_ns : 3'000'000, privileged);
  attr_stream dice(seed, known_to_both(kernel.real_time || !privileged));
  int accepted = 0;
  int refused = 0;
  for (int i = 0; i < steps; ++i) {
    const attr_memory made = next_known_to_both(dice);
    attr_memory for_us = made;
    attr_memory for_kernel = made;
    const sched_attr asked = parse(for_us);
    const int ours = kernel.util_clamps ? m.set(for_us) : set_without_util(m, for_us);
    const int theirs = kernel_set(victim.pid(), for_kernel);
    ASSERT_EQ(ours, theirs) << "step " << i << ": size " << asked.size << " policy " << asked.policy
                            << " flags " << asked.flags << " nice " << asked.nice << " priority "
                            << asked.rt_priority << " slice " << asked.runtime_ns;
    if (ours == E2BIG) {
      ASSERT_EQ(parse(for_us).size, sched_attr_size_ver2);
      ASSERT_EQ(parse(for_kernel).size, sched_attr_size_ver1);
    }
    ++(ours == 0 ? accepted : refused);
    ASSERT_NO_FATAL_FAILURE(expect_same_attributes(victim.pid(), m, kernel)) << "step " << i;
  }
  EXPECT_GT(accepted, steps / 40);
  EXPECT_GT(refused, steps / 40);
}

class kernel_attr : public testing::Test {
 protected:
  void SetUp() override {
    kernel = probe();
    if (!kernel.permits) GTEST_SKIP() << "sched_setattr() or sched_getattr() is refused here";
    if (!kernel.has_slices)
      GTEST_SKIP() << "the kernel has no slices of a task's own (before 6.12)";
  }
  kernel_traits kernel;
};

TEST_F(kernel_attr, answers_as_the_kernel_does) {
  if (!kernel.privileged) GTEST_SKIP() << "nice cannot be lowered here";
  const sleeper victim(false);
  compare(1, kernel, victim, true);
}

// The credentials of a thread are its own, as the bare system call sees it.
TEST_F(kernel_attr, refuses_a_caller_without_privileges_as_the_kernel_does) {
  const bool is_root = geteuid() == 0;
  const sleeper victim(is_root);
  std::thread caller([&] {
    if (is_root && ::syscall(SYS_setresuid, nobody, nobody, nobody) != 0) {
      GTEST_SKIP() << "cannot become another user";
    }
    sched_attr attr;
    attr.size = sched_attr_size_ver1;
    attr.nice = -1;
    int answer = EACCES;
    for (int i = 0; i < 1'000 && answer == EACCES; ++i) {  // until the child has given up its own
      sched_attr now_so;
      rlimit limit{1, 1};
      const bool ready = ::prlimit(victim.pid(), RLIMIT_RTPRIO, nullptr, &limit) == 0 &&
                         limit.rlim_max == 0 && kernel_get_attr(victim.pid(), now_so) == 0;
      if (!ready) {
        ::usleep(1'000);
        continue;
      }
      answer = kernel_set_attr(victim.pid(), attr);
    }
    if (answer != EPERM) GTEST_SKIP() << "an unprivileged caller may lower nice here";
    compare(2, kernel, victim, false);
  });
  caller.join();
}

TEST_F(kernel_attr, an_unknown_task_is_found_missing_at_the_same_point) {
  one_cpu cpu;
  int gone = 0;
  {
    const sleeper victim(false);
    gone = victim.pid();
  }
  attr_stream dice(3, known_to_both(true));
  for (int i = 0; i < 300; ++i) {
    attr_memory for_us = next_known_to_both(dice);
    // The kernel looks at a flag that it does not know only once it has the task.
    drop_flags(for_us, sched_flag::latency_nice);
    attr_memory for_kernel = for_us;
    ASSERT_EQ(static_cast<int>(set_attr(cpu.fair, nullptr, for_us, 0)),
              kernel_set(gone, for_kernel));
  }
}

TEST_F(kernel_attr, reading_honours_the_callers_size) {
  const sleeper victim(false);
  const model m(kernel.base_slice_ns, true);
  for (const unsigned size : {0U, 47U, 48U, 49U, 55U, 56U, 57U, 64U, 4'096U, 4'097U}) {
    std::vector<std::byte> ours(5'000);
    std::vector<std::byte> theirs(5'000);
    const int our_error = static_cast<int>(get_attr(m.cpu.fair, &m.t, std::span(ours).first(size)));
    const bool ok = ::syscall(SYS_sched_getattr, victim.pid(), theirs.data(), size, 0U) == 0;
    ASSERT_EQ(our_error, ok ? 0 : errno) << size;
    if (!ok) continue;
    std::uint32_t our_size = 0;
    std::uint32_t their_size = 0;
    std::memcpy(&our_size, ours.data(), sizeof our_size);
    std::memcpy(&their_size, theirs.data(), sizeof their_size);
    ASSERT_EQ(our_size, std::min(size, sched_attr_size_ver2));
    ASSERT_EQ(their_size, std::min(size, sched_attr_size_ver1));
    const bool clamps_tell = kernel.util_clamps;
    const std::size_t compared = clamps_tell ? their_size : sched_attr_size_ver0;
    ASSERT_EQ(std::memcmp(ours.data() + 4, theirs.data() + 4, compared - 4), 0) << size;
  }
}

// The child of a process with given attributes reads its own and says what they are.
bool attributes_of_child(sched_attr of_parent, sched_attr& of_child) {
  int ends[2];
  if (::pipe(ends) != 0) return false;
  const pid_t parent = ::fork();
  if (parent == 0) {
    ::close(ends[0]);
    if (kernel_set_attr(calling_thread, of_parent) != 0) ::_exit(1);
    if (::fork() == 0) {
      sched_attr own;
      const bool known = kernel_get_attr(calling_thread, own) == 0;
      ::_exit(known && ::write(ends[1], &own, sizeof own) == sizeof own ? 0 : 1);
    }
    ::wait(nullptr);
    ::_exit(0);
  }
  ::close(ends[1]);
  const bool told = ::read(ends[0], &of_child, sizeof of_child) == sizeof of_child;
  ::close(ends[0]);
  ::waitpid(parent, nullptr, 0);
  return told;
}

TEST_F(kernel_attr, a_child_inherits_and_is_reset_as_the_kernel_does_it) {
  if (!kernel.privileged) GTEST_SKIP() << "nice cannot be lowered here";
  for (const std::uint32_t policy : {0U, 1U, 2U, 3U, 5U}) {
    const bool real_time = policy == 1 || policy == 2;
    if (real_time && !kernel.real_time) continue;
    for (const int nice : {-7, 0, 7}) {
      for (const std::uint64_t flags : {std::uint64_t{0}, sched_flag::reset_on_fork}) {
        sched_attr asked;
        asked.size = sched_attr_size_ver0;
        asked.policy = policy;
        asked.flags = flags;
        asked.nice = nice;
        asked.runtime_ns = 700 * us;
        asked.rt_priority = real_time ? 3 : 0;
        model m(kernel.base_slice_ns, true);
        ASSERT_EQ(static_cast<int>(set_attr(m.cpu.fair, &m.t, asked, 0, m.host)), 0);
        sched_attr theirs;
        ASSERT_TRUE(attributes_of_child(asked, theirs));
        task child;
        inherit_attributes(child, m.t);
        const sched_attr ours = attributes_of(m.cpu.fair, child);
        // Ours makes SCHED_NORMAL of BATCH and IDLE too.
        const bool differs = flags != 0 && (policy == 3 || policy == 5);
        ASSERT_EQ(ours.policy, differs ? 0 : theirs.policy) << policy;
        if (differs) {
          ASSERT_EQ(theirs.policy, policy);
        }
        ASSERT_EQ(ours.flags, theirs.flags);
        ASSERT_EQ(ours.nice, theirs.nice) << policy << ' ' << nice << ' ' << flags;
        ASSERT_EQ(ours.rt_priority, theirs.rt_priority);
        ASSERT_EQ(ours.runtime_ns, theirs.runtime_ns) << policy << ' ' << flags;
      }
    }
  }
}

// ---- linux_sched.hpp

// Whatever the kernel's age, the answer must be one of the documented ones.
TEST(linux_sched, a_slice_for_this_thread_is_in_force_or_the_kernel_is_said_to_be_too_old) {
  const kernel_slice got = set_kernel_slice(calling_thread, 500 * us);
  switch (got.what) {
    case kernel_slice_result::applied:
      EXPECT_EQ(get_kernel_slice(calling_thread).slice_ns, 500 * us);
      EXPECT_EQ(set_kernel_slice(calling_thread, 1).slice_ns, 100 * us);
      EXPECT_EQ(set_kernel_slice(calling_thread, 0).what, kernel_slice_result::applied);
      break;
    case kernel_slice_result::too_old:
      EXPECT_NE(got.slice_ns, 500 * us);
      break;
    case kernel_slice_result::not_fair:
      EXPECT_EQ(got.error, 0);
      break;
    case kernel_slice_result::refused:
      EXPECT_NE(got.error, 0);
      break;
  }
  EXPECT_EQ(set_kernel_slice(-1, 0).what, kernel_slice_result::refused);
}

TEST(linux_sched, another_thread_of_this_program_keeps_its_nice_value) {
  const kernel_traits kernel = probe();
  if (!kernel.permits || !kernel.has_slices) GTEST_SKIP() << "no slices of a task's own here";
  std::thread worker([] {
    sched_attr attr;
    ASSERT_EQ(kernel_get_attr(calling_thread, attr), 0);
    attr.size = sched_attr_size_ver0;
    attr.nice = 5;
    ASSERT_EQ(kernel_set_attr(calling_thread, attr), 0);
    ASSERT_EQ(set_kernel_slice(calling_thread, 300 * us).what, kernel_slice_result::applied);
    ASSERT_EQ(kernel_get_attr(calling_thread, attr), 0);
    EXPECT_EQ(attr.nice, 5);
    EXPECT_EQ(attr.runtime_ns, 300 * us);
  });
  worker.join();
  EXPECT_NE(get_kernel_slice(calling_thread).slice_ns, 300 * us);
}

TEST(linux_sched, a_thread_without_slices_is_not_asked) {
  if (!probe().real_time) GTEST_SKIP() << "no real-time policy here";
  const sleeper victim(false);
  sched_attr attr;
  attr.size = sched_attr_size_ver0;
  attr.policy = static_cast<std::uint32_t>(sched_policy::fifo);
  attr.rt_priority = 1;
  ASSERT_EQ(kernel_set_attr(victim.pid(), attr), 0);
  EXPECT_EQ(set_kernel_slice(victim.pid(), 1'000 * us).what, kernel_slice_result::not_fair);
  EXPECT_EQ(get_kernel_slice(victim.pid()).what, kernel_slice_result::not_fair);
}

}  // namespace
}  // namespace vlag
