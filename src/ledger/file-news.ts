/**
 * Reports files that ended at the service, from the process that receives webhooks to all others of a store. It only
 * saves time: a process that misses a report polls the service.
 */
export interface FileNews {
  tell(fileId: string): Promise<void>
  /** @returns a function that stops listening */
  listen(hear: (fileId: string) => void): Promise<() => Promise<void>>
}
