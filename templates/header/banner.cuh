// $(name).h - written by sectile $(version); do not edit. Again: sectile emit $(spec_file)$(form_option) -o $(name).h
//
// For every $(index) in $(join(index_ranges, "%s", " x ")):
//% for _, line in ipairs(body) do
//   $(line)
//% end
// where
//% for _, o in ipairs(operands) do
//%   if #o.dims > 0 then
//   $(o.padded)  $(o.is_output and "out" or "in ")  $(o.shown), layout $(o.layout); over ($(join(o.dims)))
//%   else
//   $(o.padded)  $(o.is_output and "out" or "in ")  $(o.shown), layout $(o.layout); one element
//%   end
//%   if o.is_chosen then
//   $(blank)       the layout was chosen from $(join(o.layouts))
//%   end
//%   if o.reduce then
//   $(blank)       the $(o.reduce) of what is computed for it$(o.reduce_note)
//%   end
//%   if o.scan then
//   $(blank)       the $(o.scan) of what is computed for each element
//%   end
//%   if o.accumulate then
//%     if o.start then
//   $(blank)       accumulated ($(o.accumulate)): every launch sets all of its bytes to $(o.start) first
//%     else
//   $(blank)       accumulated ($(o.accumulate)) onto what it holds
//%     end
//%   end
//%   if o.inout and not o.accumulate and not o.reduce then
//   $(blank)       updated in place
//%   end
//%   if o.offsets then
//   $(blank)       where rows of $(ragged) begin: 0 first, n_$(ragged) last, none below the one before
//%   end
//%   if o.keeps then
//   $(blank)       elements that keep() names stay as they were
//%   end
//%   if #o.moved_to > 0 then
//%     if o.is_output then
//   $(blank)       written at ($(join(o.moved_to)))
//%     else
//   $(blank)       read at ($(join(o.moved_to)))
//%     end
//%   end
//%   if #o.taps > 0 then
//   $(blank)       taps $(join(o.taps)); border $(o.border)
//%   end
//% end
//% for _, s in ipairs(scalars) do
//   $(s.padded)  $(s.type)
//% end
//% if has_choice then
//
// The tuner chose among layouts; a header has one for each array, at all sizes, on all devices:
//%   for _, o in ipairs(operands) do
//%     if o.is_chosen then
//%       if o.formula then
//   $(o.name): $(o.what)
//     element ($(join(o.dims))) at byte $(o.shown_offsets); $(o.formula.bytes) bytes in all
//     $(o.prefix)_pack() and $(o.prefix)_unpack() convert from and to plain arrays
//%       else
//   $(o.name): $(o.layout); no functions for the host, because a sectile that stored no formulas tuned it: tune again
//%       end
//%     end
//%   end
//% end
//% for _, s in ipairs(other_sizes) do
//%   if s.times then
//   At $(s.size) on $(s.device) the winner has $(join(s.layouts)): $(s.times)
//%   else
//   At $(s.size) on $(s.device) the winner has $(join(s.layouts)); the size is left out, for nothing with these layouts passed its checks
//%   end
//% end
//
//% for _, row in ipairs(figures) do
// $(row.cells)
//%   if row.counts then
//   $(row.counts.run.n_candidates) candidates: $(row.counts.run.n_verified) $(row.counts.how), $(row.counts.run.n_tied) tied with the winner, $(row.counts.run.n_failed) failed
//%     if row.counts.passed_over then
//   $(row.counts.passed_over)
//%     end
//%   end
//% end
//
//% for _, d in ipairs(devices) do
//%   if d.is_virtual then
// $(d.name): described, NVRTC $(d.nvrtc), sectile $(d.tool)
//%   else
// $(d.name): driver $(d.driver), NVRTC $(d.nvrtc), sectile $(d.tool)
//%   end
//%   if d.n_sms == 0 then
//   its number of multiprocessors is not in the store: it never matches as the same device model
//%   end
//%   for _, line in ipairs(d.range) do
//   $(line)
//%   end
//%   if #d.alike > 0 then
//   measured on $(d.uuid); tuned too, alike, and left out: $(join(d.alike))
//%   end
//% end
//% if is_predicted then
// Predicted, not timed: compiled for a described device, PTX verified on the CPU, sectors counted
// from the addresses, times predicted from the counts. No GPU ran the variants.
//% end
// Spec $(spec_hash); the hash of each kernel's source stands above it.
//% if workspace_bytes > 0 then
// Calls that may overlap, such as on two streams, need a workspace each: blocks leave
// partial results there.
//% end
//% if date then
// Written $(date) (SOURCE_DATE_EPOCH).
//% end
