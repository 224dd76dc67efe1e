$(g:types())
$(g:helpers())
$(kit.comment(doc))
$(g:head(threads)) {
  $(constants)
  const long long block = blockIdx.x;
  const int thread = threadIdx.x, lane = thread % 32;
  $(g.k.prologue)
  $(cut)
  $(declared)
//% if turns > 1 then
  $(ahead)
#pragma unroll 1
  for (int turn = 0; turn < kTurns; turn++) {
    if ($(over)) break;
    $(load)
    $(compute)
    $(carry)
  }
//% else
  $(load)
  $(compute)
//% end
}
