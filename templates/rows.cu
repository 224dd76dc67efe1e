$(g:types())
//% local moved, rest = rows.move(p), rows.edge(p)
$(g:helpers())
$(g:element())
$(kit.comment(doc))
$(g:head(threads)) {
  $(rows.constants(p))
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  $(g.k.prologue)
  const int team = thread / kLanes, lane = thread % kLanes; // the lanes of a team share a row
  const long long first = block * (long long)kTile;
  if (first + kTile <= n_$(row_name)) {
    $(moved)
  } else { // the last, partial tile
    $(rest)
  }
}
