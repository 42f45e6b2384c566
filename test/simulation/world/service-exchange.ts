/** A request as it reaches the simulated service. */
export interface ServiceRequest {
  readonly operation: string
  readonly url: string
  readonly json?: unknown
  readonly bytes?: Buffer
  readonly token?: string | undefined
}

/** What the service answers. */
export interface ServiceAnswer {
  readonly status: number
  readonly body: Buffer
}
