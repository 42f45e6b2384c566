/** Where everything lies in a simulated world. */
export const PLACES = {
  state: '/sim/state',
  /** Mounted, or a plain folder: a share that is watched. */
  share: '/sim/share',
  watched: '/sim/share/in',
  out: '/sim/share/in/out',
  failed: '/sim/share/in/failed',
  /** Where a person runs voxmux by hand, on every file there is. */
  desk: '/sim/share/desk',
  ledger: '/sim/state/ledger.sqlite',
  seen: '/sim/state/watch.sqlite',
} as const
