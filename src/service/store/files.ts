import type { FileErrorCode, OutputType, WebhookStatus, WebhookType } from '../../contract/index.js'
import type { FileRecord } from './file-record.js'

/** A client's request to register a file. */
export interface Registration {
  readonly userId: string
  readonly clientFileId: string
  readonly sourceUrl?: string | undefined
  readonly startSec?: number | undefined
  readonly endSec?: number | undefined
}

/** A client's options to start a file. */
export interface FileStartOptions {
  readonly webhook: boolean
  readonly webhookSecret: string | null
  readonly outputType: OutputType | null
}

/** A file held by one worker. A later worker gets another claim, after which this one may no longer write. */
export interface ClaimedFile {
  readonly id: string
  /** A random whole number. */
  readonly claim: number
}

/** Changes of a file. Each moves it forward, or changes nothing if its state does not allow that. */
export type FileChange =
  /** Starts a file that was never started, or that failed through no fault of its own. */
  | { readonly kind: 'start'; readonly options: FileStartOptions }
  /** From pending into progress. */
  | { readonly kind: 'begin'; readonly claim: number }
  /** Sets the progress. It never falls, however often a file is retried. */
  | { readonly kind: 'progress'; readonly claim: number; readonly percent: number }
  | { readonly kind: 'succeed'; readonly claim: number; readonly outputExtension: string }
  /** Ends the file and refunds its credits. */
  | { readonly kind: 'fail'; readonly claim: number; readonly errorCode: FileErrorCode }
  /** Only queues events. */
  | { readonly kind: 'tell'; readonly claim: number }
  /** Records that the input of an ended file is deleted. The file cannot be started again. */
  | { readonly kind: 'input-deleted' }
  /** Records that the output is deleted too. */
  | { readonly kind: 'output-deleted' }

/** An event sent with a change, if the file was started with webhooks and its user has set an address. */
export interface Notice {
  readonly type: WebhookType
  readonly status: WebhookStatus
}

/** Result of a change. */
export interface Changed {
  readonly changed: boolean
  /** The file as it is now; undefined if it does not exist. */
  readonly file: FileRecord | undefined
}

/** The kinds of expired data. */
export type ExpiredData = 'input' | 'output' | 'unused'

/** Format of a file id: a UUID. Other ids are not looked up. */
export const FILE_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * Failures after which the same file may be started again: a fault of the service (-1), a timeout (-12), or missing
 * credits (-10). The user may have topped up the credits since.
 */
export const RETRYABLE_CODES: readonly FileErrorCode[] = [-1, -10, -12]

/** The registered files and their states. */
export interface Files {
  /** @param id a new id; registering the same id again changes nothing */
  register(id: string, registration: Registration): Promise<FileRecord>
  /** The user's files with these ids, in the given order. Ids of other users count as unknown. */
  ofUser(userId: string, ids: readonly string[]): Promise<(FileRecord | undefined)[]>
  byId(id: string): Promise<FileRecord | undefined>
  /** Which of these ids exist. */
  known(ids: readonly string[]): Promise<ReadonlySet<string>>

  /** Changes a file and queues its events in one transaction. */
  change(id: string, change: FileChange, notices?: readonly Notice[]): Promise<Changed>

  /** Counts a crash if the last worker never released the file. @returns the file as it is now */
  findForRetry(id: string): Promise<FileRecord | undefined>
  /** Marks a file as being processed. @returns false if it has ended */
  claim(taken: ClaimedFile): Promise<boolean>
  /** Releases a file after an orderly end of its processing, so that no crash is counted. */
  release(taken: ClaimedFile): Promise<void>
  /**
   * Counts a fault of the service, at most one per claim. @returns the faults since the start; undefined if another
   * worker holds the file
   */
  countFault(taken: ClaimedFile): Promise<number | undefined>
  /**
   * Charges a file's sound, in whole milliseconds, to its user. Charges once, however often the file is retried.
   *
   * @returns 'short' if the credits do not suffice, 'lost' if another worker holds the file; nothing is charged then
   */
  charge(taken: ClaimedFile, soundMs: number): Promise<'charged' | 'short' | 'lost'>

  /** Ids of the files that were accepted but not seen in the job queue, oldest first. */
  unqueued(): Promise<string[]>
  /** Records that the file was seen in the job queue. */
  markQueued(id: string): Promise<void>

  /**
   * Some files whose data expired `forMs` after their end, or after the registration of a file that was never started.
   */
  expired(what: ExpiredData, forMs: number): Promise<FileRecord[]>
  /** Deletes the record of a file that was never started. @returns false if it was started */
  forgetUnused(id: string): Promise<boolean>
  /** Deletes the records of files whose output was deleted longer ago than this. */
  forgetDeleted(forMs: number): Promise<void>
}

/** Most files that one call of {@link Files.expired} returns. */
export const EXPIRED_PAGE = 500
