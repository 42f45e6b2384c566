/** What a stranger does first with the installed package: start the service that it carries, and talk to it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FILE_ERROR_CODES, fileErrorInfo, type OutputType, VoxmuxClient, VoxmuxError } from 'voxmux'
import { startService } from 'voxmux/service'
import { type FinishedStep, scriptStep } from 'voxmux/step'

const wanted: OutputType = 'flac'
const dataDir = mkdtempSync(join(tmpdir(), 'voxmux-stranger-'))
const service = await startService({ dataDir })
try {
  const { baseUrl, authUrl, tenantId, scope } = service
  const credentials = await service.createKey('stranger')
  const client = new VoxmuxClient({ baseUrl, authUrl, tenantId, scope, ...credentials })
  const { status } = await client.ping()
  const { file_id } = await client.registerFile({ clientFileId: 'take-12.wav' })
  const refusal = await client.startOnce(file_id, { output_type: wanted }).catch((error: unknown) => error)
  if (!(refusal instanceof VoxmuxError)) throw new Error('A start before the upload was not refused.')
  const names = FILE_ERROR_CODES.map((code) => fileErrorInfo(code).name)
  process.stdout.write(`the service says ${status}; start before upload: ${refusal.code}; ${names.length} codes\n`)
  client.close()
  const step: Promise<FinishedStep> = scriptStep({ input: 'none.wav' }, { env: { VOXMUX_STATE_DIR: dataDir } })
  const missing = await step.catch((error: unknown) => error)
  if (!(missing instanceof VoxmuxError)) throw new Error('A step without its file was not refused.')
  process.stdout.write(`a step without its file: ${missing.code}\n`)
} finally {
  await service.close()
  rmSync(dataDir, { recursive: true, force: true })
}
