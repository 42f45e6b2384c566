import type { VoxmuxError } from '../core/errors.js'
import type { Logger } from '../core/logger.js'
import type { Limits } from '../precheck/index.js'
import type { ServiceSettingsInput } from './service-settings.js'
import type { AzureStorageOptions } from './storage/azure-storage.js'
import type { FileEngine } from './work/file-engine.js'

/** Options of a node of the service. Only the folder has no default. */
export interface ServiceOptions {
  /** Folder of all service data, of mode 0700. Processes of one machine on the same folder are one service. */
  readonly dataDir: string
  /**
   * `postgres://…`: stores everything except files there, for nodes on several machines. All nodes must then share the
   * folder; with Azure, each has its own. Needs the package pg.
   */
  readonly store?: string | undefined
  /** Default 127.0.0.1. */
  readonly host?: string
  /** Default 0: any free port. */
  readonly port?: number
  /** Port of the storage address. Default: the port after `port`, or any free one if `port` is 0. */
  readonly storagePort?: number | undefined
  /** Address at which clients reach the node, if it differs from host and port: behind a proxy, or on all addresses. */
  readonly publicUrl?: string | undefined
  readonly publicStorageUrl?: string | undefined
  /** Limits of the accepted files; see `precheck`. Published at `/api/v1/limits`. */
  readonly limits?: Limits
  readonly settings?: ServiceSettingsInput
  /** Lets registerFileFromUrl and webhooks reach loopback and private networks. */
  readonly allowPrivateUrls?: boolean
  /** Stores inputs and outputs in Azure Blob Storage instead of the data folder. */
  readonly azure?: AzureStorageOptions
  /** Default: the service's own. */
  readonly engine?: () => Promise<FileEngine>
  /** Serve only, and leave the processing to other nodes of the folder. Default false. */
  readonly serveOnly?: boolean
  /** Process only files that clients start at this node or ask it about, not those of other nodes. Default false. */
  readonly askedOnly?: boolean
  readonly logger?: Logger
}

/** A running node. */
export interface RunningService {
  /** Address of the API. */
  readonly baseUrl: string
  /** Address of the identity provider: the token endpoint is `{authUrl}/{tenantId}/oauth2/v2.0/token`. */
  readonly authUrl: string
  readonly storageUrl: string
  readonly tenantId: string
  readonly scope: string
  /** Id of the service, the same for all of its nodes on any port. */
  readonly serviceId: string
  /** Creates a key of the local account. It is valid as long as this node runs. */
  createKey(name: string): Promise<ServiceCredentials>
  /** Calls the listener for every file that ends on this node, so that a caller in the same process need not poll. */
  onFileEnd(listener: (fileId: string) => void): void
  /** Calls the listener when this node cannot go on with its files because its disk is full or fails. */
  onDiskFault(listener: (error: VoxmuxError) => void): void
  /** Stops gracefully. Files in progress go back to the queue, for another node or the next start. */
  close(): Promise<void>
}

export interface ServiceCredentials {
  readonly clientId: string
  readonly clientSecret: string
}
