// Read-only connections for the request threads: opened when first needed, then handed around.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <vector>

#include "base/result.h"
#include "store/reader.h"

namespace web {

class ReaderPool {
 public:
  explicit ReaderPool(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // A reader for one thread; goes back when the lease ends.
  class Lease {
   public:
    Lease(ReaderPool* pool, std::unique_ptr<store::Reader> reader)
        : pool_(pool), reader_(std::move(reader)) {}
    Lease(Lease&&) noexcept = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
      if (reader_) pool_->give_back(std::move(reader_));
    }
    const store::Reader& operator*() const { return *reader_; }
    const store::Reader* operator->() const { return reader_.get(); }

   private:
    ReaderPool* pool_;
    std::unique_ptr<store::Reader> reader_;
  };

  base::Result<Lease> take() {
    {
      std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        auto reader = std::move(idle_.back());
        idle_.pop_back();
        return Lease(this, std::move(reader));
      }
    }
    NS_ASSIGN(opened, store::Reader::open(folder_));
    return Lease(this, std::make_unique<store::Reader>(std::move(opened)));
  }

 private:
  // A burst of viewers should not leave a connection open for each of them.
  static constexpr std::size_t kIdle = 8;

  void give_back(std::unique_ptr<store::Reader> reader) {
    std::lock_guard lock(mutex_);
    if (idle_.size() < kIdle) idle_.push_back(std::move(reader));
  }

  std::filesystem::path folder_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<store::Reader>> idle_;  // guarded by mutex_
};

}  // namespace web
