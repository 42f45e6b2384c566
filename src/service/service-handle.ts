import type { Logger } from '../core/logger.js'
import type { Limits } from '../precheck/index.js'
import type { ServiceSettingsInput } from './service-settings.js'
import type { AzureStorageOptions } from './storage/azure-storage.js'
import type { VoiceEngine } from './work/voice-engine.js'

/** What a node of the service is started with; all but the folder has a default. */
export interface ServiceOptions {
  /**
   * Folder of everything the service keeps; made 0700. Processes of one machine that are given the same one are one
   * service.
   */
  readonly dataDir: string
  /**
   * `redis://…`: keeps everything but the files there, for nodes on several machines. The folder is then one that all of
   * them share, or with Azure each node's own. Needs the packages bullmq and ioredis.
   */
  readonly store?: string
  /** Default 127.0.0.1. */
  readonly host?: string
  /** Default 0: any. */
  readonly port?: number
  /** Port of the storage address; default: the next after `port`, or any where that is 0. */
  readonly storagePort?: number
  /** How clients reach the node where that is not host and port: behind a proxy, or on all addresses. */
  readonly publicUrl?: string
  readonly publicStorageUrl?: string
  /** What the service takes; see `precheck`. Published at `/api/v1/limits`. */
  readonly limits?: Limits
  readonly settings?: ServiceSettingsInput
  /** Lets registerFileFromUrl and webhooks reach loopback and private networks. */
  readonly allowPrivateUrls?: boolean
  /** Inputs and outputs in Azure Blob Storage instead of the data folder. */
  readonly azure?: AzureStorageOptions
  /** Default: the service's own. */
  readonly engine?: () => Promise<VoiceEngine>
  /** Serve only, and leave the work to other nodes of the folder. Default false. */
  readonly serveOnly?: boolean
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
  /** Id of the service: the same for every node of it, whatever its port. */
  readonly serviceId: string
  /** A key of the local account that is good for as long as this node runs. */
  createKey(name: string): Promise<ServiceCredentials>
  /** Exempts a receiver of webhooks that this process opened from the address guard. `origin`: `http://127.0.0.1:PORT`. */
  trustReceiver(origin: string): void
  /** Tells of every file that this node worked to its end: who runs the node within its own process need not ask. */
  onFileEnd(listener: (fileId: string) => void): void
  /** Ends gracefully: what is in work goes back to the queue, for another node or the next start. */
  close(): Promise<void>
}

export interface ServiceCredentials {
  readonly clientId: string
  readonly clientSecret: string
}
