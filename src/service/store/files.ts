import type { FileErrorCode, OutputType, WebhookStatus, WebhookType } from '../../contract/index.js'
import type { FileRecord } from './file-record.js'

/** What a client says when it registers a file. */
export interface Registration {
  readonly userId: string
  readonly clientFileId: string
  readonly sourceUrl?: string | undefined
  readonly startSec?: number | undefined
  readonly endSec?: number | undefined
}

/** What a client says when it starts a file. */
export interface StartOptions {
  readonly webhook: boolean
  readonly webhookSecret: string | null
  readonly outputType: OutputType | null
}

/** A file in the hands of one worker: whoever takes it up later has another claim, and this one may write no more. */
export interface TakenFile {
  readonly id: string
  /** A random whole number. */
  readonly claim: number
}

/** What happens to a file. Each moves it forward or, where it does not fit its state, changes nothing. */
export type FileChange =
  /** Of a file that was never started, or that failed through no fault of its own. */
  | { readonly kind: 'start'; readonly options: StartOptions }
  /** From pending into progress. */
  | { readonly kind: 'begin'; readonly claim: number }
  /** Progress never falls, however often a file is tried. */
  | { readonly kind: 'progress'; readonly claim: number; readonly percent: number }
  | { readonly kind: 'succeed'; readonly claim: number; readonly outputExtension: string }
  /** Gives the credits back. */
  | { readonly kind: 'fail'; readonly claim: number; readonly errorCode: FileErrorCode }
  /** Nothing but that something is told of it. */
  | { readonly kind: 'tell'; readonly claim: number }
  /** The input of a file that has ended goes: it cannot be started again. */
  | { readonly kind: 'input-deleted' }
  /** Its output goes as well. */
  | { readonly kind: 'output-deleted' }

/** An event that goes out with a change, where the file was started with webhooks and its user has set an address. */
export interface Notice {
  readonly type: WebhookType
  readonly status: WebhookStatus
}

/** What became of a change. */
export interface Changed {
  readonly changed: boolean
  /** The file as it is now; undefined for one that is not there. */
  readonly file: FileRecord | undefined
}

/** What has outlived its time. */
export type Outlived = 'input' | 'output' | 'unused'

/** An id that can be one of ours: a UUID. What it names is only asked for then. */
export const FILE_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Failures after which the same file may be started once more: webhooks call them "Retry Needed". */
export const RETRYABLE_CODES: readonly FileErrorCode[] = [-1, -12]

/** The registered files and their life. */
export interface Files {
  /** @param id a new one: done again with the same, it changes nothing */
  register(id: string, registration: Registration): Promise<FileRecord>
  /** The files with these ids that are this user's, in the order asked: one user's ids do not exist for another. */
  ofUser(userId: string, ids: readonly string[]): Promise<(FileRecord | undefined)[]>
  byId(id: string): Promise<FileRecord | undefined>
  /** Which of these ids are there. */
  known(ids: readonly string[]): Promise<ReadonlySet<string>>

  /** Changes a file and queues what is told of it, in one step. */
  change(id: string, change: FileChange, notices?: readonly Notice[]): Promise<Changed>

  /** Counts a crash where whoever took the file up last never put it down. @returns the file as it is now */
  findAgain(id: string): Promise<FileRecord | undefined>
  /** Marks a file as in work. @returns false where it has ended */
  takeUp(taken: TakenFile): Promise<boolean>
  /** The work on a file came to an orderly end, whichever: it was no crash. */
  putDown(taken: TakenFile): Promise<void>
  /** Counts a fault of the service, one a claim. @returns how many there were since the start; undefined where it is another's */
  countFault(taken: TakenFile): Promise<number | undefined>
  /**
   * Takes a file's seconds from its user's credits, once however often the file is tried.
   *
   * @returns 'short' where the credits do not suffice, 'lost' where it is another's; nothing is taken then
   */
  charge(taken: TakenFile, durationSec: number): Promise<'charged' | 'short' | 'lost'>

  /** Ids of the files that were accepted but not seen in the queue of work, oldest first. */
  unqueued(): Promise<string[]>
  /** The file was seen in the queue of work. */
  markQueued(id: string): Promise<void>

  /** Some of the files whose input or output is so old, counted from their end; or that were registered so long ago and never started. */
  outlived(what: Outlived, forMs: number): Promise<FileRecord[]>
  /** Forgets a file that was never started. @returns false where it is none */
  forgetUnused(id: string): Promise<boolean>
  /** Forgets the files whose output was deleted so long ago. */
  forgetDeleted(forMs: number): Promise<void>
}

/** Files that {@link Files.outlived} answers at once, at most. */
export const OUTLIVED_PAGE = 500
