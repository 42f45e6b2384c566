import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type RunningService, type ServiceOptions, startService } from '../../../src/service/index.js'

/** An empty folder that is gone after the test. */
export async function freshFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'voxmux-service-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

/** A real service on loopback, closed after the test. */
export async function withService(
  options: Partial<ServiceOptions> = {},
): Promise<RunningService & { readonly dataDir: string }> {
  const dataDir = options.dataDir ?? (await freshFolder())
  const service = await startService({ ...options, dataDir })
  onTestFinished(() => service.close())
  return { ...service, dataDir }
}

export interface TokenForm {
  readonly client_id?: string
  readonly client_secret?: string
  readonly grant_type?: string
  readonly scope?: string
}

export function requestToken(service: RunningService, form: TokenForm, tenantId = service.tenantId): Promise<Response> {
  return fetch(`${service.authUrl}/${tenantId}/oauth2/v2.0/token`, {
    method: 'POST',
    body: new URLSearchParams({ ...form }),
  })
}

/** A bearer token of a key made for the test. */
export async function freshToken(service: RunningService): Promise<string> {
  const { clientId, clientSecret } = await service.createKey('test')
  const answer = await requestToken(service, {
    client_id: clientId,
    client_secret: clientSecret,
    grant_type: 'client_credentials',
    scope: service.scope,
  })
  const { access_token } = (await answer.json()) as { access_token: string }
  return access_token
}
