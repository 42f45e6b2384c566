import { openPortal, startService } from '../../../src/service/index.js'
import { plainEngine } from '../../service/support/engines.js'

/** The embedded service on loopback, whose work can be held, with the credits of an account. */
export interface HeldService {
  /** What a client must have in its environment. */
  readonly env: Readonly<Record<string, string>>
  /** From now on, files that were started stay in progress. */
  hold(): void
  release(): void
  credits(): Promise<number | null | undefined>
  close(): Promise<void>
}

/** @param dataDir everything that it keeps */
export async function heldService(dataDir: string, creditsSec: number): Promise<HeldService> {
  let held: Promise<void> | undefined
  let release = () => {}
  const service = await startService({
    dataDir,
    engine: async () => {
      const { processFile } = await plainEngine()
      return {
        async processFile(request) {
          await held
          return processFile(request)
        },
      }
    },
  })
  const portal = await openPortal({ dataDir })
  const { id } = await portal.accounts.ensure('local')
  await portal.accounts.setCredits(id, creditsSec)
  const { clientId, clientSecret } = await service.createKey('test')
  return {
    env: {
      VOXMUX_BASE_URL: service.baseUrl,
      VOXMUX_AUTH_URL: service.authUrl,
      VOXMUX_TENANT_ID: service.tenantId,
      VOXMUX_CLIENT_ID: clientId,
      VOXMUX_CLIENT_SECRET: clientSecret,
      VOXMUX_SCOPE: service.scope,
    },
    hold() {
      held = new Promise((resolve) => {
        release = resolve
      })
    },
    release: () => release(),
    credits: async () => (await portal.accounts.byId(id))?.creditsSec,
    close: async () => {
      release()
      await portal.close()
      await service.close()
    },
  }
}
