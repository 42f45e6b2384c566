import { randomBytes, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { type Database, openDatabase } from '../../jobs/index.js'
import { SERVICE_MIGRATIONS } from './migrations.js'

/** What a data folder is, whichever node serves it and on whatever port. */
export interface ServiceIdentity {
  /** Id of the folder: the identity of the embedded service for cache and ledger. */
  readonly serviceId: string
  readonly tenantId: string
  /** `api://<application id>`: audience of the access tokens. */
  readonly audience: string
  /** `api://<application id>/.default`. */
  readonly scope: string
  /** Key of the signed storage links, shared by all nodes of the folder. */
  readonly linkSecret: string
}

/**
 * Opens the service's database in its data folder; makes both when they are not there.
 *
 * @throws what `openDatabase` throws
 */
export function openServiceDatabase(dataDir: string): { database: Database; identity: ServiceIdentity } {
  const database = openDatabase(join(dataDir, 'service.db'), SERVICE_MIGRATIONS)
  try {
    return { database, identity: readIdentity(database) }
  } catch (error) {
    database.close()
    throw error
  }
}

function readIdentity(database: Database): ServiceIdentity {
  // Two nodes that start on an empty folder must agree: whoever inserts first wins, both read.
  const value = (name: string, fresh: () => string) => {
    database.run('INSERT OR IGNORE INTO setting (name, value) VALUES (?, ?)', [name, fresh()])
    return String(database.get('SELECT value FROM setting WHERE name = ?', [name])?.value)
  }
  return database.transaction(() => {
    const applicationId = value('application_id', randomUUID)
    return {
      serviceId: value('service_id', randomUUID),
      tenantId: value('tenant_id', randomUUID),
      audience: `api://${applicationId}`,
      scope: `api://${applicationId}/.default`,
      linkSecret: value('link_secret', () => randomBytes(32).toString('base64url')),
    }
  })
}
