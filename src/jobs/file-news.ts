/**
 * Word of the files that have ended at the service, from the process that receives its webhooks to all others of a
 * store. It only hastens: who hears nothing asks the service.
 */
export interface FileNews {
  tell(fileId: string): Promise<void>
  /** @returns ends the listening */
  listen(hear: (fileId: string) => void): Promise<() => Promise<void>>
}
