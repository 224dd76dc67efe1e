/* What a copy between host and device takes on a described device: a latency, and its bytes at the
 * rate of the link. */
#include "device/device.h"

static const char *const names[SCT_N_HOSTS] = {
#define SCT_HOST(id, name, doc) name,
#include "device_host.def"
#undef SCT_HOST
};

const char *sct_host_name(sct_host_kind kind) {
  return names[kind];
}

static const char *const ways[] = {
    [SCT_TO_DEVICE] = "to device", [SCT_TO_HOST] = "to host", [SCT_BOTH_WAYS] = "both ways"};

const char *sct_way_name(sct_way way) {
  return ways[way];
}

double sct_stated_transfer_ns(const sct_device_desc *device, sct_host_kind kind, sct_way way,
                              int64_t bytes) {
  if (device->pcie_bytes_s <= 0) {
    return 0;
  }
  const double link_ns = (double)bytes / device->pcie_bytes_s * 1e9;
  if (kind != SCT_HOST_PAGEABLE) {
    return device->pcie_latency_ns + link_ns; /* a link has wires for each way */
  }
  const double each =
      device->pcie_latency_ns + link_ns + (double)bytes / device->host_copy_bytes_s * 1e9;
  return way == SCT_BOTH_WAYS ? 2 * each : each; /* the host does one copy at a time */
}
