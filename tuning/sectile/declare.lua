-- declare: the definitions that stand in front of a generated kernel: half floats, records, and
-- the helper functions that its accesses need.
local declare = {}

local hints = require "sectile.hints"

--- Wraps `text` as // comment lines of at most 100 columns.
---@param text string
---@return string
function declare.comment(text)
  local lines, line = {}, "//"
  -- a backslash at a line's end would take the next line along, trigraphs are such a backslash too
  local calm = string.gsub(string.gsub(text, "\\", "/"), "%?%?+", "?")
  for word in string.gmatch(string.gsub(calm, "[^ -~\n\t]", "_"), "%S+") do
    if #line + 1 + #word > 100 then
      lines[#lines + 1] = line
      line = "//"
    end
    line = line .. " " .. word
  end
  lines[#lines + 1] = line
  return table.concat(lines, "\n")
end

-- ---- types ----

local HALF = [[
// %s: 2 bytes; arithmetic goes through float.
struct %s {
  unsigned short bits;
  %s() = default;
  __device__ __forceinline__ %s(float x) {
    asm("cvt.rn.%s.f32 %%0, %%1;" : "=h"(bits) : "f"(x));
    bits = __byte_perm(bits, 0, 0x4410); // else ptxas 13.0 makes bytes of it by float to int
  }
%s  __device__ __forceinline__ operator float() const {
    float x;
    %s
    return x;
  }
};
]]

-- A field of packed records. Compilers that follow GCC pack only fields without constructors.
local PACKED = [[
// %s as a field of a packed record.
struct __attribute__((packed)) packed_%s {
  unsigned short bits;
  template <class T> __device__ __forceinline__ packed_%s &operator=(T x);
  __device__ __forceinline__ operator float() const {
    float x;
    %s
    return x;
  }
};
]]
local FROM_PACKED = [[
  __device__ __forceinline__ %s(packed_%s x) : bits(x.bits) {}
]]
local TO_PACKED = [[
template <class T> __device__ __forceinline__ packed_%s &packed_%s::operator=(T x) {
  bits = %s(x).bits;
  return *this;
}
]]

-- From the other one, which C++ does not convert to float on its own.
local FROM_OTHER = [[
  template <class T> __device__ __forceinline__ %s(T x) : %s(static_cast<float>(x)) {}
]]

local function is_half(type)
  return type == "f16" or type == "bf16"
end

local function half_types(k)
  local seen, packed, text = {}, {}, {}
  local function see(type)
    if is_half(type) and not seen[type] then
      seen[type] = true
      seen[#seen + 1] = type
    end
  end
  for _, op in ipairs(k.operands) do
    for _, field in ipairs(op.record.fields) do
      see(field.type)
      packed[field.type] = packed[field.type] or op.record.packed
    end
  end
  for _, scalar in ipairs(k.scalars) do
    see(scalar.type)
  end
  for word in string.gmatch(k.body, "[%a_][%w_]*") do
    see(word)
  end
  for n, type in ipairs(seen) do
    -- a bf16 is the upper half of a float
    local back = type == "f16" and [[asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));]]
      or "x = __uint_as_float((unsigned int)bits << 16);"
    local more = #seen > 1 and string.format(FROM_OTHER, type, type) or ""
    if packed[type] then
      more = more .. string.format(FROM_PACKED, type, type)
    end
    text[n] = string.format(HALF, type, type, type, type, type, more, back)
    if packed[type] then
      text[n] = string.format(PACKED, type, type, type, back) .. text[n]
        .. string.format(TO_PACKED, type, type, type)
    end
  end
  return text
end

-- A struct definition, neighbouring fields of one type on one line.
local function struct_text(record)
  local natural = 1
  for _, field in ipairs(record.fields) do
    natural = math.max(natural, math.min(field.bytes, 16))
  end
  local attribute = ""
  if record.packed then
    attribute, natural = "__attribute__((packed)) ", 1
  end
  if record.align > natural then
    attribute = attribute .. string.format("__align__(%d) ", record.align)
  end
  local lines = { string.format("struct %s%s {", attribute, record.name) }
  local n = 1
  while n <= #record.fields do
    local names, type = {}, record.fields[n].cuda
    while n <= #record.fields and record.fields[n].cuda == type do
      names[#names + 1] = record.fields[n].name
      n = n + 1
    end
    local prefix = record.packed and is_half(type) and "packed_" or ""
    lines[#lines + 1] = string.format("  %s%s %s;", prefix, type, table.concat(names, ", "))
  end
  lines[#lines + 1] = "};"
  lines[#lines + 1] = string.format(
    'static_assert(sizeof(%s) == %d && alignof(%s) == %d, "layout of %s");', record.name,
    record.bytes, record.name, record.align, record.name)
  return table.concat(lines, "\n") .. "\n"
end

--- Type definitions: half floats and records, each once.
---@param k sectile.View
---@return string
function declare.types(k)
  local parts, seen = half_types(k), {}
  for _, op in ipairs(k.operands) do
    if not op.record.bare and not seen[op.record.name] then
      seen[op.record.name] = true
      parts[#parts + 1] = struct_text(op.record)
    end
  end
  return table.concat(parts, "\n")
end

-- ---- helper functions ----

local AT = [[
// The value of type T that lies `bytes` after `base`.
template <class T> __device__ __forceinline__ const T &at(const void *base, long long bytes) {
  return *reinterpret_cast<const T *>(static_cast<const char *>(base) + bytes);
}
template <class T> __device__ __forceinline__ T &at(void *base, long long bytes) {
  return *reinterpret_cast<T *>(static_cast<char *>(base) + bytes);
}
]]

local PIECES = [[
// A value that lies off its alignment, moved in pieces that are aligned.
template <class T, class Piece>
__device__ __forceinline__ T gather_pieces(const void *base, long long bytes) {
  union { Piece piece[sizeof(T) / sizeof(Piece)]; T value; } u;
#pragma unroll
  for (int k = 0; k < sizeof(T) / sizeof(Piece); k++)
    u.piece[k] = at<Piece>(base, bytes + k * sizeof(Piece));
  return u.value;
}
template <class T, class Piece>
__device__ __forceinline__ void scatter_pieces(void *base, long long bytes, T value) {
  union { T value; Piece piece[sizeof(T) / sizeof(Piece)]; } u = {value};
#pragma unroll
  for (int k = 0; k < sizeof(T) / sizeof(Piece); k++)
    at<Piece>(base, bytes + k * sizeof(Piece)) = u.piece[k];
}
]]

local COPY_PIECES = [[
// A word in kCount pieces: where the image's rows are padded, only pieces are aligned.
template <class Piece, int kCount>
__device__ __forceinline__ void copy_pieces(void *to, const void *from) {
#pragma unroll
  for (int k = 0; k < kCount; k++)
    static_cast<Piece *>(to)[k] = static_cast<const Piece *>(from)[k];
}
]]

-- By elements a word: the exchange of a block of as many words. __byte_perm numbers the bytes of
-- its first word 0 to 3, of its second 4 to 7.
local EXCHANGE = {
  [4] = [[
// Exchanges rows and columns of a block of 4 x 4 bytes: word `word` of each row.
template <int kWords>
__device__ __forceinline__ void exchange_block(unsigned int (&row)[4][kWords], int word) {
  const unsigned int low01 = __byte_perm(row[0][word], row[1][word], 0x5140);
  const unsigned int high01 = __byte_perm(row[0][word], row[1][word], 0x7362);
  const unsigned int low23 = __byte_perm(row[2][word], row[3][word], 0x5140);
  const unsigned int high23 = __byte_perm(row[2][word], row[3][word], 0x7362);
  row[0][word] = __byte_perm(low01, low23, 0x5410);
  row[1][word] = __byte_perm(low01, low23, 0x7632);
  row[2][word] = __byte_perm(high01, high23, 0x5410);
  row[3][word] = __byte_perm(high01, high23, 0x7632);
}
]],
  [2] = [[
// Exchanges rows and columns of a block of 2 x 2 halves: word `word` of each row.
template <int kWords>
__device__ __forceinline__ void exchange_block(unsigned int (&row)[2][kWords], int word) {
  const unsigned int first = row[0][word], second = row[1][word];
  row[0][word] = __byte_perm(first, second, 0x5410);
  row[1][word] = __byte_perm(first, second, 0x7632);
}
]],
}

local COPY_ASYNC = [[
// kBytes from global to shared memory that pass no register (sm_80): in the group at hand.
template <int kBytes> __device__ __forceinline__ void copy_async(void *to, const void *from) {
  const unsigned int place = (unsigned int)__cvta_generic_to_shared(to);
  asm volatile("cp.async.$CACHE.shared.global [%0], [%1], %2;" ::"r"(place), "l"(from), "n"(kBytes)
               : "memory");
}
]]

local STRIPED = [[
// The largest power of two that divides n, up to 32; and what n is to be multiplied by for 1
// modulo m.
__device__ constexpr int twos_in(int n) { return (n & -n) < 32 ? n & -n : 32; }
__device__ constexpr int inverse_of(int n, int m) {
  for (int k = 1; k < m; k++)
    if (n * k %% m == 1) return k;
  return 0;
}
// kLists lists of kCount words, both in steps: word x of each becomes what was word x + by of it.
template <int kLists, int kListStep, int kCount, int kStep, int kWords, int kPieces>
__device__ __forceinline__ void rotate_words(unsigned int (&w)[kWords][kPieces], int by) {
#pragma unroll
  for (int bit = 1; bit < kCount; bit *= 2)
#pragma unroll
    for (int list = 0; list < kLists * kPieces; list++) {
      unsigned int before[kCount];
#pragma unroll
      for (int x = 0; x < kCount; x++)
        before[x] = w[list / kPieces * kListStep + x * kStep][list %% kPieces];
#pragma unroll
      for (int x = 0; x < kCount; x++) {
        const unsigned int here = before[x], there = before[(x + bit) %% kCount];
        w[list / kPieces * kListStep + x * kStep][list %% kPieces] = by & bit ? there : here;
      }
    }
}
// Of 32 lanes' runs of kWords words: from words that lanes hold striped (the word k of lane l is
// number 32 k + l) to each lane's own, and back.
template <int kWords, int kPieces>
__device__ __forceinline__ void take_own(unsigned int (&w)[kWords][kPieces], int lane) {
  constexpr int kTwos = twos_in(kWords), kOdd = kWords / kTwos, kSame = 32 / kTwos;
  constexpr int kInverse = inverse_of(kSame, kOdd);
  const int list = lane / kSame, base = lane %% kSame * kWords;
  rotate_words<kOdd, 1, kTwos, kOdd>(w, lane %% kTwos);
  rotate_words<kTwos, kOdd, kOdd, 1>(w, kOdd - lane / kTwos * kInverse %% kOdd);
  unsigned int own[kWords][kPieces];
#pragma unroll
  for (int k = 0; k < kWords; k++) {
    const int h = k / kTwos, turn = k %% kTwos;
    const int from = base + h * kTwos + (turn + list) %% kTwos;
#pragma unroll
    for (int piece = 0; piece < kPieces; piece++)
      own[k][piece] = __shfl_sync(
        0xffffffff, w[(kTwos - turn) %% kTwos * kOdd + h * kInverse %% kOdd][piece], from);
  }
  rotate_words<kOdd, kTwos, kTwos, 1>(own, kTwos - list);
#pragma unroll
  for (int k = 0; k < kWords * kPieces; k++)
    w[k / kPieces][k %% kPieces] = own[k / kPieces][k %% kPieces];
}
template <int kWords, int kPieces>
__device__ __forceinline__ void give_own(unsigned int (&w)[kWords][kPieces], int lane) {
  constexpr int kTwos = twos_in(kWords), kOdd = kWords / kTwos, kSame = 32 / kTwos;
  constexpr int kInverse = inverse_of(kSame, kOdd), kBack = inverse_of(kOdd, kSame);
  rotate_words<kOdd, kTwos, kTwos, 1>(w, lane / kSame);
  unsigned int striped[kWords][kPieces];
#pragma unroll
  for (int k = 0; k < kWords; k++) {
    const int h = k / kTwos, turn = k %% kTwos;
    const int from = (lane + kTwos - turn) %% kTwos * kSame
      + ((lane / kTwos - h) * kBack & (kSame - 1));
#pragma unroll
    for (int piece = 0; piece < kPieces; piece++)
      striped[(kTwos - turn) %% kTwos * kOdd + h * kInverse %% kOdd][piece] =
        __shfl_sync(0xffffffff, w[k][piece], from);
  }
  rotate_words<kOdd, 1, kTwos, kOdd>(striped, kTwos - lane %% kTwos);
  rotate_words<kTwos, kOdd, kOdd, 1>(striped, lane / kTwos * kInverse %% kOdd);
#pragma unroll
  for (int k = 0; k < kWords * kPieces; k++)
    w[k / kPieces][k %% kPieces] = striped[k / kPieces][k %% kPieces];
}
// kCount words of each lane; `from` and `to`: the lane's first word in memory, striped%s.
template <class Word, int kCount>
__device__ __forceinline__ void load_striped(void *to, const Word *from, int lane) {
  constexpr int kPieces = sizeof(Word) / 4;
  __align__(16) unsigned int w[kCount][kPieces];
#pragma unroll
  for (int k = 0; k < kCount; k++)
    *reinterpret_cast<Word *>(w[k]) = $LOAD(from + 32 * k);
  take_own(w, lane);
#pragma unroll
  for (int k = 0; k < kCount; k++)
    static_cast<Word *>(to)[k] = *reinterpret_cast<const Word *>(w[k]);
}
template <class Word, int kCount>
__device__ __forceinline__ void store_striped(Word *to, const void *from, int lane) {
  constexpr int kPieces = sizeof(Word) / 4;
  __align__(16) unsigned int w[kCount][kPieces];
#pragma unroll
  for (int k = 0; k < kCount; k++)
    *reinterpret_cast<Word *>(w[k]) = static_cast<const Word *>(from)[k];
  give_own(w, lane);
#pragma unroll
  for (int k = 0; k < kCount; k++)
    $STORE(to + 32 * k, *reinterpret_cast<const Word *>(w[k]));
}
]]

local BULK = [[
__device__ __forceinline__ unsigned int shared_address(const void *p) {
  return (unsigned int)__cvta_generic_to_shared(p);
}
__device__ __forceinline__ void init_barrier(unsigned long long *barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(arrivals) : "memory");
}
// Barriers that were initialised before it are seen by copies behind it.
__device__ __forceinline__ void fence_barrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
// One arrival; the phase waits for these bytes as well.
__device__ __forceinline__ void expect_bytes(unsigned long long *barrier, int bytes) {
  asm volatile("{\n .reg .b64 state;\n"
               " mbarrier.arrive.expect_tx.shared::cta.b64 state, [%0], %1;\n}" ::
               "r"(shared_address(barrier)), "r"(bytes) : "memory");
}
// Waits until the phase of this parity has ended.
__device__ __forceinline__ void wait_phase(unsigned long long *barrier, int parity) {
  asm volatile("{\n .reg .pred over;\nagain:\n"
               " mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n"
               " @!over bra again;\n}" ::"r"(shared_address(barrier)), "r"(parity) : "memory");
}
// Multiples of 16 bytes into shared memory; reports them to the barrier (sm_90).
__device__ __forceinline__ void bulk_load(void *to, const void *from, int bytes,
                                          unsigned long long *barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes$HINT"
               " [%0], [%1], %2, [%3]$4;" ::"r"(shared_address(to)), "l"(from), "r"(bytes),
               "r"(shared_address(barrier))$POLICY : "memory");
}
]]

local BULK_STORE = [[
// What was written to shared memory before it is seen by bulk copies behind it.
__device__ __forceinline__ void fence_async() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
// Multiples of 16 bytes out of shared memory, in the thread's group at hand.
__device__ __forceinline__ void bulk_store(void *to, const void *from, int bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group$HINT"
               " [%0], [%1], %2$3;" ::"l"(to), "r"(shared_address(from)), "r"(bytes)$POLICY
               : "memory");
}
__device__ __forceinline__ void bulk_commit() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
// Waits until the thread's bulk stores have read their images.
__device__ __forceinline__ void bulk_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
]]

local REALIGNED = [[
// The word that lies `bytes` after the aligned `base`, from the one or two aligned words it is in.
__device__ __forceinline__ unsigned int load_realigned(const void *base, long long bytes) {
  const long long place = bytes & ~3ll;
  const int bits = (int)(bytes & 3) * 8;
  const unsigned int low = at<unsigned int>(base, place);
  const unsigned int high = bits > 0 ? at<unsigned int>(base, place + 4) : 0;
  return __funnelshift_r(low, high, bits);
}
]]

local SHIFTED = [[
// 16 bytes that start `rest` bytes after the first of two neighbouring aligned words; kBits: off a
// word of 4 bytes, too.
template <bool kBits>
__device__ __forceinline__ uint4 realigned(uint4 low, uint4 high, int rest) {
  unsigned int part[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
  for (int k = 0; k < 6; k++)
    part[k] = rest & 8 ? part[k + 2] : part[k];
#pragma unroll
  for (int k = 0; k < 5; k++)
    part[k] = rest & 4 ? part[k + 1] : part[k];
#pragma unroll
  for (int k = 0; k < 4; k++)
    part[k] = kBits ? __funnelshift_r(part[k], part[k + 1], rest % 4 * 8) : part[k];
  return make_uint4(part[0], part[1], part[2], part[3]);
}
]]

-- How a lane gets the word behind its own: by loading it, too, or from the next lane.
local NEXT_WORD = {
  load = [[
// kCount words of 16 bytes that start `bytes` after the aligned `base`, from the aligned words
// around them; they lie kRest bytes off a word, or -1: it shows here. L1 has the last word for the
// next lane.
template <int kCount, int kRest, bool kBits>
__device__ __forceinline__ void load_shifted(void *to, const void *base, long long bytes) {
  const int rest = kRest < 0 ? (int)(bytes & 15) : kRest;
  const uint4 *const from = &at<uint4>(base, bytes - rest);
  uint4 word[kCount + 1];
#pragma unroll
  for (int k = 0; k < kCount; k++)
    word[k] = $LOAD(from + k);
  word[kCount] = rest > 0 ? $LOAD(from + kCount) : word[0];
#pragma unroll
  for (int k = 0; k < kCount; k++)
    static_cast<uint4 *>(to)[k] = realigned<kBits>(word[k], word[k + 1], rest);
}
]],
  share = [[
// kCount words of 16 bytes that start `bytes` after the aligned `base`, from the aligned words
// around them; they lie kRest bytes off a word, or -1: it shows here. The last comes from the next
// lane, whose words follow; all lanes of the warp take part.
template <int kCount, int kRest, bool kBits>
__device__ __forceinline__ void share_shifted(void *to, const void *base, long long bytes) {
  const int rest = kRest < 0 ? (int)(bytes & 15) : kRest;
  const uint4 *const from = &at<uint4>(base, bytes - rest);
  uint4 word[kCount + 1];
#pragma unroll
  for (int k = 0; k < kCount; k++)
    word[k] = $LOAD(from + k);
  uint4 next = word[0]; // as much of it as is needed
  if (kRest != 0) next.x = __shfl_down_sync(0xffffffff, next.x, 1);
  if (kRest < 0 || kRest > 4) next.y = __shfl_down_sync(0xffffffff, next.y, 1);
  if (kRest < 0 || kRest > 8) next.z = __shfl_down_sync(0xffffffff, next.z, 1);
  if (kRest < 0 || kRest > 12) next.w = __shfl_down_sync(0xffffffff, next.w, 1);
  if (threadIdx.x % 32 == 31 && rest > 0) next = $LOAD(from + kCount);
  word[kCount] = next;
#pragma unroll
  for (int k = 0; k < kCount; k++)
    static_cast<uint4 *>(to)[k] = realigned<kBits>(word[k], word[k + 1], rest);
}
]],
}

local SPACED = [[
// kCount elements, kStep bytes apart from kRest bytes after `from` on: the words that hold them.
template <class Word, class T, int kCount, int kRest, int kStep>
__device__ __forceinline__ void load_spaced(T *to, const void *from) {
  constexpr int kWords = (kRest + (kCount - 1) * kStep) / sizeof(Word) + 1;
  Word word[kWords];
#pragma unroll
  for (int k = 0; k < kWords; k++) {
    bool wanted = false;
    for (int n = 0; n < kCount; n++)
      wanted |= (kRest + n * kStep) / (int)sizeof(Word) == k;
    if (wanted) word[k] = $LOAD(static_cast<const Word *>(from) + k);
  }
#pragma unroll
  for (int k = 0; k < kCount; k++)
    to[k] = at<T>(word, kRest + k * kStep);
}
]]

local QUOTIENT = [[
// The length of `n` cut into equal parts of at most `most`, in multiples of `unit`.
__device__ __forceinline__ int box_of(int n, int most, int unit) {
  const int parts = max(1, (n + most - 1) / most);
  return max(1, min(n, ((n + parts - 1) / parts + unit - 1) / unit * unit));
}
// In how many steps of `run` elements a sector of kSector ends; 1 if there is no room for so many.
template <int kSector> __device__ __forceinline__ int sector_steps(int run, int room) {
  int steps = 1;
#pragma unroll
  for (int n = 2; n <= kSector; n *= 2)
    steps = max(steps, run % n != 0 ? 2 * kSector / n : 1);
  return steps <= room ? steps : 1;
}

// left / size by a multiplication: exact while left * size < 2^30.
__device__ __forceinline__ unsigned int factor_of(unsigned int size) {
  return size > 0 ? (0x80000000u + size - 1) / size : 0;
}
__device__ __forceinline__ int quotient(unsigned int left, unsigned int factor) {
  return __umulhi(2 * left + 1, factor);
}
]]

local WORDS = [[
// kCount words from or to neighbouring addresses%s.
template <class Word, int kCount>
__device__ __forceinline__ void load_words(void *to, const void *from) {
#pragma unroll
  for (int k = 0; k < kCount; k++)
    static_cast<Word *>(to)[k] = %s;
}
template <class Word, int kCount>
__device__ __forceinline__ void store_words(void *to, const void *from) {
#pragma unroll
  for (int k = 0; k < kCount; k++)
    %s;
}
]]

local KEPT = [[
// kCount words from or to neighbouring addresses, without a hint: they may be used again.
template <class Word, int kCount>
__device__ __forceinline__ void load_kept(void *to, const void *from) {
#pragma unroll
  for (int k = 0; k < kCount; k++)
    static_cast<Word *>(to)[k] = static_cast<const Word *>(from)[k];
}
template <class Word, int kCount>
__device__ __forceinline__ void store_kept(void *to, const void *from) {
#pragma unroll
  for (int k = 0; k < kCount; k++)
    __stwb(static_cast<Word *>(to) + k, static_cast<const Word *>(from)[k]);
}
]]

local function words(hint, whole)
  local from, to = "static_cast<const Word *>(from)", "static_cast<Word *>(to)"
  local load, store = hints.loads[hint], hints.stores[hint]
  -- NVRTC 13.0 crashes where it splits a plain word into unaligned fields of a packed record
  load = load or whole and "__ldg"
  -- a plain assignment lets the compiler split the word into stores of what it was computed from
  return string.format(WORDS, hints.why[hint],
    load and load .. "(" .. from .. " + k)" or from .. "[k]",
    (store or "__stwb") .. "(" .. to .. " + k, " .. from .. "[k])")
end

-- A plain load may be split into loads of what is used of the word.
local function whole_word(text, hint)
  return (string.gsub(text, "$LOAD", hints.loads[hint] or "__ldg"))
end

-- Bulk copies, with or without a policy of L2.
local function bulk(text, kept)
  return (string.gsub(text, "$(%w+)", {
    HINT = kept and ".L2::cache_hint" or "", POLICY = kept and ', "l"(lasting_policy())' or "",
    ["3"] = kept and ", %3" or "", ["4"] = kept and ", %4" or "",
  }))
end

local function copy_async(cache)
  return (string.gsub(COPY_ASYNC, "$CACHE", cache))
end

--- Helper functions that a kernel needs.
---@param needs table which: at, pieces, copy_pieces, words, kept, realigned, spaced, bulk,
--- bulk_store, striped, quotient; exchange: elements a word; copy_async: the caches it fills,
--- "ca" or "cg"; shifted: a set of "load" and "share"
---@param hint "none"|"cs"|"keepin"|"keepout" of global accesses (hints.lua)
---@return string
function declare.helpers(needs, hint)
  local parts = {}
  hints.helpers(parts, hint)
  if needs.at or needs.pieces then
    parts[#parts + 1] = AT
  end
  if needs.pieces then
    parts[#parts + 1] = PIECES
  end
  if needs.copy_pieces then
    parts[#parts + 1] = COPY_PIECES
  end
  if needs.copy_async then
    parts[#parts + 1] = copy_async(needs.copy_async)
  end
  if needs.striped then
    local why = string.gsub(hints.why[hint], "^,", ";")
    parts[#parts + 1] = (string.gsub(string.format(STRIPED, why), "$%u+", {
      ["$LOAD"] = hints.loads[hint] or "__ldg", ["$STORE"] = hints.stores[hint] or "__stwb",
    }))
  end
  if needs.bulk then
    parts[#parts + 1] = bulk(BULK, hint == "keepin")
  end
  if needs.bulk_store then
    parts[#parts + 1] = bulk(BULK_STORE, hint == "keepout")
  end
  if needs.realigned then
    parts[#parts + 1] = REALIGNED
  end
  if needs.shifted then
    parts[#parts + 1] = SHIFTED
    for _, how in ipairs { "load", "share" } do
      parts[#parts + 1] = needs.shifted[how] and whole_word(NEXT_WORD[how], hint) or nil
    end
  end
  if needs.spaced then
    parts[#parts + 1] = whole_word(SPACED, hint)
  end
  if needs.exchange then
    parts[#parts + 1] = EXCHANGE[needs.exchange]
  end
  if needs.quotient then
    parts[#parts + 1] = QUOTIENT
  end
  if needs.kept then
    parts[#parts + 1] = KEPT
  end
  if needs.words then
    parts[#parts + 1] = words(hint, needs.whole_words)
  end
  return table.concat(parts, "\n")
end

return declare
