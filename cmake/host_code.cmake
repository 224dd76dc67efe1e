# Writes OUT: the template IN as C, for src/host: `$(...)` holes get the names that its host_code.c defines. Lines of
# Lua begin with // and stay.
file(READ ${IN} text)
foreach(hole IN ITEMS
    "detail=host" "name=sct" "host.extent=n" "workspace=workspace" "workspace_bytes=host_workspace_bytes"
    "host.if_copied= && !host_direct[k]" "host.or_direct= || host_direct[k]"
    "host.if_combined= && host_combines"
    "host.whole_at=host_direct[k] ? (void *)(uintptr_t)h->from[k] : p->whole[k]"
    "host.to_device=host_staged[k] ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice"
    "host.to_host=host_staged[k] ? cudaMemcpyDeviceToDevice : cudaMemcpyDeviceToHost"
    "host.launch_onto=host_launch(c, stream)"
    "host.launch_chunk=host_launch_in_turn(h, &c, slot->stream, which)"
    "host.locked_mib=16" "host.ring_mib=2")
  string(REGEX MATCH "^[^=]*" key "${hole}")
  string(LENGTH "${key}=" length)
  string(SUBSTRING "${hole}" ${length} -1 value)
  string(REPLACE "$(${key})" "${value}" text "${text}")
endforeach()
string(FIND "${text}" "$(" left)
if(NOT left EQUAL -1)
  string(SUBSTRING "${text}" ${left} 40 left)
  message(FATAL_ERROR "${IN}: no value for ${left}")
endif()
file(WRITE ${OUT} "${text}")
