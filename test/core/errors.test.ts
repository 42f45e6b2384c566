import { constants } from 'node:os'
import { getSystemErrorName } from 'node:util'
import { expect, it } from 'vitest'
import {
  AccessError,
  type ExitCode,
  errorReport,
  InterruptedError,
  JobFailedError,
  overallExitCode,
  PendingError,
  PrecheckError,
  TransientError,
  toVoxmuxError,
  UsageError,
  VerificationError,
  VoxmuxError,
} from '../../src/core/errors.js'
import fc from '../helpers/properties.js'

const ORDER: readonly ExitCode[] = [130, 2, 6, 7, 1, 5, 4, 3, 0]

it('takes the gravest of several exit codes, in the order of the contract', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...ORDER)), (codes) => {
      const first = ORDER.find((code) => codes.includes(code)) ?? 0
      expect(overallExitCode(codes)).toBe(first)
    }),
  )
})

it('says what to do after a fault that is thrown far below the command', () => {
  const fault = new JobFailedError('ERR_FFMPEG_FAILED', 'ffmpeg failed.')
  expect(fault.remedies.join(' ')).toMatch(/voxmux doctor/)
  expect(new JobFailedError('ERR_FFMPEG_FAILED', 'm', { remedies: ['Wait.'] }).remedies).toEqual(['Wait.'])
})

it.each([
  [UsageError, 2],
  [PrecheckError, 5],
  [JobFailedError, 1],
  [PendingError, 3],
  [TransientError, 4],
  [AccessError, 6],
  [VerificationError, 7],
] as const)('%o ends with %i and keeps what it was told', (Kind, exitCode) => {
  const cause = new Error('below')
  const error = new Kind('ERR_X', 'Because.', {
    cause,
    input: '/a',
    errorCode: -8,
    errorName: 'N',
    remedies: ['r'],
  })
  expect(error).toBeInstanceOf(VoxmuxError)
  expect(error).toMatchObject({ name: Kind.name, exitCode, code: 'ERR_X', input: '/a', cause })
  expect(errorReport(error)).toEqual({ code: 'ERR_X', errorCode: -8, name: 'N', message: 'Because.', remedies: ['r'] })
  expect(errorReport(new Kind('ERR_X', 'm'))).toMatchObject({ errorCode: null, name: null, remedies: [] })
})

it('never says that the input was being written', () => {
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
  expect(toVoxmuxError(full, '/media/film.mov').message).toBe('No space left while writing a file of this job.')
})

it.each<[string, string, ExitCode]>([
  ['ENOSPC', 'ERR_DISK_FULL', 4],
  ['EDQUOT', 'ERR_DISK_FULL', 4],
  ['EFBIG', 'ERR_OUTPUT_TOO_LARGE', 2],
  ['EACCES', 'ERR_NOT_PERMITTED', 2],
  ['EPERM', 'ERR_NOT_PERMITTED', 2],
  ['EROFS', 'ERR_NOT_PERMITTED', 2],
  ['EMFILE', 'ERR_TOO_MANY_FILES', 4],
  ['ABORT_ERR', 'ERR_INTERRUPTED', 130],
  ['ESOMETHING', 'ERR_INTERNAL', 1],
])('turns a system fault %s into %s', (system, code, exitCode) => {
  const thrown = Object.assign(new Error('as thrown'), { code: system, path: '/p' })
  expect(toVoxmuxError(thrown, '/in')).toMatchObject({ code, exitCode, cause: thrown, input: '/in' })
})

it.skipIf(process.platform !== 'linux').each<[keyof typeof constants.errno, string]>([
  ['EDQUOT', 'ERR_DISK_FULL'],
  ['ESTALE', 'ERR_STORAGE_AWAY'],
])('knows %s, for which Node.js has no name, and lets the job run again', (name, code) => {
  const errno = -constants.errno[name]
  const system = getSystemErrorName(errno)
  expect(system).toMatch(/^Unknown system error -1\d\d$/)
  const thrown = Object.assign(new Error(`${system}: ${system}, write`), { code: system, errno, path: '/p' })
  expect(toVoxmuxError(thrown, '/in')).toMatchObject({ code, exitCode: 4, cause: thrown, input: '/in' })
})

it('lets its own errors be and survives anything thrown', () => {
  const own = new InterruptedError()
  expect(toVoxmuxError(own)).toBe(own)
  fc.assert(
    fc.property(fc.anything(), (thrown) => {
      expect(toVoxmuxError(thrown)).toBeInstanceOf(VoxmuxError)
    }),
  )
})

it.each([
  ['text', 'as thrown', 'as thrown'],
  ['an object', { reason: 'as thrown' }, "{ reason: 'as thrown' }"],
  ['an object that cannot become text', { toString: 0 }, '{ toString: 0 }'],
  ['nothing', undefined, 'undefined'],
  ['a symbol', Symbol('s'), 'Symbol(s)'],
])('says what was thrown where it is %s', (_, thrown, message) => {
  expect(toVoxmuxError(thrown).message).toBe(`Unexpected fault: ${message}`)
})

it('names the fault, not the failed close that followed it', async () => {
  const fault = (code: string) => Object.assign(new Error('as thrown'), { code, path: '/mnt/p' })
  const first = fault('ENOSPC')
  async function written(): Promise<void> {
    await using _file: AsyncDisposable = { [Symbol.asyncDispose]: () => Promise.reject(fault('EIO')) }
    throw first
  }
  const thrown: unknown = await written().catch((error) => error)
  expect(thrown).not.toBe(first)
  expect(toVoxmuxError(thrown, '/in')).toMatchObject({ code: 'ERR_DISK_FULL', exitCode: 4, cause: first })
})
