import { expect } from 'vitest'
import { test } from './harness.js'

test('a meter counts requests, repeats and the bytes of files', async ({ server, connect, file, dir }) => {
  const counted = { requests: [] as string[], repeats: [] as string[], sent: 0, received: 0 }
  const client = connect({
    meter: {
      onRequest: (operation) => counted.requests.push(operation),
      onRepeat: (operation) => counted.repeats.push(operation),
      onBytesSent(bytes) {
        counted.sent += bytes
      },
      onBytesReceived(bytes) {
        counted.received += bytes
      },
    },
  })
  server.fail('registerFile', { kind: 'status', status: 503 })
  server.fail('upload', { kind: 'status', status: 503 })
  server.fail('download', { kind: 'truncated', bytes: 40_000 })
  const { path } = await file(100_000)
  const { file_id } = await client.registerAndUpload({ clientFileId: 'clip' }, path)
  await client.startOnce(file_id)
  await client.waitFor(file_id)
  await client.download(file_id, `${dir}/out`)
  for (const [operation, times] of Object.entries(server.calls))
    expect([operation, counted.requests.filter((one) => one === operation).length]).toEqual([operation, times])
  expect(counted.repeats).toEqual(['registerFile', 'upload', 'download'])
  // An upload that is repeated is sent again; a download goes on where it broke off.
  expect(counted.sent).toBeGreaterThanOrEqual(100_000)
  expect(counted.received).toBe(100_000)
})
