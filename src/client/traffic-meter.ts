/** Counts requests and bytes as they happen, in the same process. Must not throw. */
export interface TrafficMeter {
  /** Called for each request. `operation` is one of the interface's, or `token`, `upload`, `download`. */
  onRequest(operation: string): void
  /** Called when a request failed temporarily and is retried. */
  onRepeat(operation: string): void
  onBytesSent(bytes: number): void
  onBytesReceived(bytes: number): void
}
