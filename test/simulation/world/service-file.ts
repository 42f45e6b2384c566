/** A file at the simulated service. Times are true ones, Unix milliseconds. */
export interface ServiceFile {
  readonly id: string
  readonly clientFileId: string
  readonly linkEndsMs: number
  bytes: Buffer | null
  /** Null while it is not started. */
  startedMs: number | null
  beginsMs: number
  endsMs: number
  /** What it will end in: 0 is an output, else the error's number. */
  outcome: number
  isLost: boolean
  options: string
  payments: number
}

export type ServiceState = 'Pending' | 'InProgress' | 'Succeeded' | 'Failed' | 'NotFound'

export function stateOf(file: ServiceFile | undefined, nowMs: number): ServiceState {
  if (!file || file.isLost) return 'NotFound'
  if (file.startedMs === null || nowMs < file.beginsMs) return 'Pending'
  if (nowMs < file.endsMs) return 'InProgress'
  return file.outcome === 0 ? 'Succeeded' : 'Failed'
}
