import { createHash } from 'node:crypto'
import type { RunningService } from '../../../src/service/index.js'
import { apiClient } from './api-client.js'
import { fixtureVoice } from './engines.js'
import { freshToken } from './with-service.js'

/**
 * So many clients at once, each with a file that only it has.
 *
 * @returns for each what went wrong; undefined where it got its own file back
 */
export async function crowd(service: RunningService, clients: number): Promise<(string | undefined)[]> {
  const voice = await fixtureVoice()
  const token = await freshToken(service)
  return Promise.all(Array.from({ length: clients }, (_, index) => visit(service, token, voice, index)))
}

async function visit(
  service: RunningService,
  token: string,
  voice: Buffer,
  index: number,
): Promise<string | undefined> {
  try {
    const client = await apiClient(service, token)
    // A chunk at the end that every reader of WAV skips and only this client has.
    const own = Buffer.concat([voice, Buffer.from('note\x08\0\0\0'), Buffer.from(String(index).padStart(8, '0'))])
    const file = await client.register(`client-${index}.wav`)
    const uploaded = await client.upload(file.file_upload_link, own)
    if (uploaded.status !== 201) return `upload answered ${uploaded.status}`
    const { error } = await client.start(file.file_id)
    if (error) return `start answered ${error.code}`
    const { status, errorCode } = await client.ended(file.file_id)
    if (status !== 'Succeeded') return `${status} ${errorCode}`
    const { url } = await client.outputUrl(file.file_id)
    const output = Buffer.from(await (await fetch(url)).arrayBuffer())
    return hash(output) === hash(own) ? undefined : 'another file came back'
  } catch (error) {
    return String(error)
  }
}

function hash(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
