// The two halves of a barrier of all blocks of a cluster (sm_90). What threads wrote before they
// arrived is seen by those that have waited, in the shared memory of any of the blocks.
__device__ __forceinline__ void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
__device__ __forceinline__ void cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// A T to where `to` lies in the shared memory of block `rank` of the cluster.
template <class T> __device__ __forceinline__ void put_to_block(T *to, int rank, const T &value) {
  unsigned int there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(there) : "r"((unsigned int)__cvta_generic_to_shared(to)), "r"(rank));
#pragma unroll
  for (int k = 0; k < sizeof(T) / 4; k++)
    asm volatile("st.shared::cluster.u32 [%0], %1;"
                 ::"r"(there + 4 * k), "r"(reinterpret_cast<const unsigned int *>(&value)[k])
                 : "memory");
}

// Combines the values of all threads of a cluster of kBlocks blocks, which all must run already:
// all of them get the result. For each T at most once in a kernel.
template <int kThreads, int kBlocks, class T>
__device__ __forceinline__ T combine_cluster(const T &mine) {
  constexpr int kWarps = kThreads / 32, kParts = kBlocks * kWarps;
  __shared__ __align__(16) T parts[kParts]; // of all warps of the cluster
  T all[1] = {mine};
  combine_across<1, 32>(all);
  const int lane = threadIdx.x % 32, warp = blockIdx.x % kBlocks * kWarps + threadIdx.x / 32;
  if (lane < kBlocks)
    put_to_block(&parts[warp], lane, all[0]);
  cluster_arrive();
  cluster_wait();
  all[0] = parts[lane % kParts];
#pragma unroll
  for (int part = 32; part < kParts; part += 32)
    all[0] = combine(all[0], parts[part + lane]);
  combine_across<1, (kParts < 32 ? kParts : 32)>(all);
  return all[0];
}

// The same as combine_columns, for threads of all blocks of a cluster of kBlocks, which all must
// run already.
template <int kThreads, int kSide, int kBlocks, class T, int kVec>
__device__ __forceinline__ void combine_columns_cluster(T (&mine)[kVec]) {
  __shared__ __align__(16) T blocks[kBlocks][kSide * kVec]; // of the cluster
  combine_columns<kThreads, kSide>(mine);
  const int side = threadIdx.x % kSide, rank = threadIdx.x / kSide;
  if (rank < kBlocks)
#pragma unroll
    for (int e = 0; e < kVec; e++)
      put_to_block(&blocks[blockIdx.x % kBlocks][e * kSide + side], rank, mine[e]);
  cluster_arrive();
  cluster_wait();
#pragma unroll
  for (int e = 0; e < kVec; e++) {
    mine[e] = blocks[0][e * kSide + side];
#pragma unroll
    for (int block = 1; block < kBlocks; block++)
      mine[e] = combine(mine[e], blocks[block][e * kSide + side]);
  }
}
