/* What a copy to or from a described device takes: a latency, and its bytes at the rate of the
 * link. */
#include "device/device.h"

#include <math.h>
#include <string.h>

static const char *const names[SCT_N_HOSTS] = {
#define SCT_HOST(id, name, doc) name,
#include "device_host.def"
#undef SCT_HOST
};

const char *sct_host_name(sct_host_kind kind) {
  return names[kind];
}

bool sct_host_is_peer(sct_host_kind kind) {
  return kind >= SCT_HOST_PEER;
}

const char *sct_way_name(sct_host_kind kind, sct_way way) {
  return way == SCT_BOTH_WAYS     ? "both ways"
         : way == SCT_TO_DEVICE   ? "to device"
         : sct_host_is_peer(kind) ? "to peer"
                                  : "to host";
}

/* Between two devices: links of their own join those of one model, where they have such; all others
 * meet at the host's. */
static double peer_bytes_s(const sct_device_desc *a, const sct_device_desc *b, bool direct) {
  if (direct && a->peer_bytes_s > 0 && strcmp(a->name, b->name) == 0) {
    return a->peer_bytes_s;
  }
  return fmin(a->pcie_bytes_s, b->pcie_bytes_s);
}

double sct_stated_transfer_ns(const sct_device_desc *device, const sct_device_desc *peer,
                              sct_host_kind kind, sct_way way, int64_t bytes) {
  const double rate =
      peer ? peer_bytes_s(device, peer, kind == SCT_HOST_PEER) : device->pcie_bytes_s;
  if (rate <= 0) {
    return 0;
  }
  const double link_ns = (double)bytes / rate * 1e9;
  if (kind != SCT_HOST_PAGEABLE) {
    return device->pcie_latency_ns + link_ns; /* a link has wires for each way */
  }
  const double each =
      device->pcie_latency_ns + link_ns + (double)bytes / device->host_copy_bytes_s * 1e9;
  return way == SCT_BOTH_WAYS ? 2 * each : each; /* the host does one copy at a time */
}
