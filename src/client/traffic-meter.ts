/** Counts what goes over the wire: called as it happens, from the same process. It must not throw. */
export interface TrafficMeter {
  /** A request goes out; `operation` is one of the interface's, or `token`, `upload`, `download`. */
  onRequest(operation: string): void
  /** A request failed for a moment, and goes out once more. */
  onRepeat(operation: string): void
  onBytesSent(bytes: number): void
  onBytesReceived(bytes: number): void
}
