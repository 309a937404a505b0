// Passes are read scope by scope. A trace may have a million of them, so only some are read ahead.
#include "viz/models/work/readers.h"

#include <algorithm>

namespace uopscope {
namespace {

/// Passes that are read ahead; the others when somebody goes there. A window keeps about 300 bytes of each.
constexpr size_t kAhead = 20'000;

struct Read {
  ScopeId scope = 0;
  ScopePassesPtr passes;
};

} // namespace

void Readers::open(const QString& path, std::function<void()> then, std::function<void(QString)> failed,
                   bool unlessEmpty) {
  if (path != path_ || index_) {
    index_.reset();
    path_ = path;
    jobs_.open(path);
  }
  struct Opened {
    TraceFacts facts;
    std::vector<Read> passes;
  };
  jobs_.ask(
      Channel::Open,
      [this, then = std::move(then), unlessEmpty](Jobs::Job& job) -> Jobs::Answer {
        Trace& trace = job.trace();
        trace.refresh();
        const auto busy = [](const ScopeInfo& s) { return s.totalSteps > 0; };
        if (unlessEmpty && !trace.finished() && std::ranges::none_of(trace.scopes(), busy)) return {};
        job.progress(0.5, {});
        auto opened = std::make_shared<Opened>(Opened{readTraceFacts(trace, true), {}});
        if (const ScopeId scope = opened->facts.openingScope)
          opened->passes.push_back({scope, readPasses(trace, scope)});
        return [this, opened, then] {
          jobs_.know(opened->facts.overview);
          index_ = std::make_unique<TraceIndex>(std::move(opened->facts));
          for (Read& r : opened->passes) index_->learn(r.scope, std::move(r.passes));
          then();
        };
      },
      [this, failed = std::move(failed)](const QString& what) {
        path_.clear(); // the lanes may hold a reader of a file that was not complete
        failed(what);
      });
}

void Readers::close() {
  jobs_.open({});
  path_.clear();
  index_.reset();
}

bool Readers::adopt(TraceFacts facts) {
  if (!index_ || facts.overview == index_->overview()) return false;
  jobs_.refresh(facts.overview);
  index_->grow(std::move(facts));
  return true;
}

void Readers::whenKnown(ScopeId scope, PassId pass, std::function<void()> then,
                        std::function<void(QString)> failed) {
  if (!index_) return;
  if (scope ? index_->knows(scope) : index_->knowsPass(pass)) return then();
  jobs_.ask(
      Channel::Enter,
      [this, scope, pass, then = std::move(then)](Jobs::Job& job) -> Jobs::Answer {
        const ScopeId wanted = scope ? scope : job.trace().pass(pass).scope;
        return [this, wanted, passes = readPasses(job.trace(), wanted), then] {
          index_->learn(wanted, passes);
          then();
        };
      },
      std::move(failed));
}

void Readers::readAhead() {
  if (!index_ || index_->passCount() >= kAhead) return;
  std::vector<ScopeId> scopes;
  for (const ScopeInfo& s : index_->scopes())
    if (!index_->knows(s.id)) scopes.push_back(s.id);
  if (scopes.empty()) return;
  jobs_.ask(
      Channel::Passes,
      [this, scopes, most = kAhead - index_->passCount()](Jobs::Job& job) -> Jobs::Answer {
        auto read = std::make_shared<std::vector<Read>>();
        size_t count = 0;
        for (const ScopeId scope : scopes) {
          if (job.stale()) return {};
          read->push_back({scope, readPasses(job.trace(), scope)});
          if ((count += read->back().passes->passes.size()) > most) break;
        }
        return [this, read] {
          for (Read& r : *read)
            if (!index_->knows(r.scope)) index_->learn(r.scope, std::move(r.passes));
        };
      },
      [](const QString&) {}); // a damaged scope: whoever enters it meets the message
}

} // namespace uopscope
