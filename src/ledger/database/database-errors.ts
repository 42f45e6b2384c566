import { existsSync } from 'node:fs'
import { TransientError, toVoxmuxError, UsageError, VoxmuxError } from '../../core/errors.js'

/** Converts a SQLite or file-system fault to an error for users. Returns anything else unchanged. */
export function databaseError(thrown: unknown, file: string): unknown {
  if (thrown instanceof VoxmuxError || !(thrown instanceof Error)) return thrown
  const code = String((thrown as { code?: unknown }).code ?? '')
  const options = { cause: thrown, input: file }
  if (/^SQLITE_(BUSY|LOCKED)/.test(code))
    return new TransientError('ERR_DATABASE_BUSY', `Another process holds ${file}.`, {
      ...options,
      remedies: ['Run again. If it happens again, end the voxmux process that hangs.'],
    })
  if (/^SQLITE_FULL/.test(code))
    return new TransientError('ERR_DISK_FULL', `No space left while writing ${file}.`, {
      ...options,
      remedies: [
        'Free some space on that disk, then run the same command again. Voices that are paid for are kept.',
        'Or move the state folder to another disk, and name its new place in VOXMUX_STATE_DIR.',
      ],
    })
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code))
    return new UsageError('ERR_DATABASE_CORRUPT', `${file} is damaged or not a database.`, {
      ...options,
      remedies: [
        'If voxmux made it, move it (and its -wal and -shm) aside and run again: the receipts still prove what was done. If not, name another file with --ledger.',
      ],
    })
  if (
    /^SQLITE_(READONLY|CANTOPEN|PERM|AUTH)/.test(code) ||
    /Unable to open|^(EACCES|EPERM|EROFS|EISDIR|ENOTDIR|EEXIST|ELOOP|ENOENT|ENAMETOOLONG)$/.test(code || thrown.message)
  )
    return new UsageError('ERR_DATABASE_NOT_WRITABLE', `${file} ${whyClosed(file)}.`, {
      ...options,
      remedies: [
        'Check owner and permissions of the file and its folder, or choose another ledger with --ledger, or another folder with VOXMUX_STATE_DIR.',
      ],
    })
  if (/^SQLITE_IOERR/.test(code))
    return new TransientError('ERR_DATABASE_IO', `The disk failed while reading or writing ${file}.`, {
      ...options,
      remedies: ['Check that the disk is mounted and not full. A state folder on a network share is not supported.'],
    })
  const known = toVoxmuxError(thrown, file)
  return known.code === 'ERR_INTERNAL' ? thrown : known
}

function whyClosed(file: string): string {
  // With a slash at its end, only a folder exists.
  const isFolder = existsSync(`${file}/`)
  return isFolder ? 'is a folder, and a database is a file' : 'cannot be opened for writing'
}

/** Creates the error for a file with the schema of a newer voxmux. */
export function newerDatabase(file: string): UsageError {
  return new UsageError('ERR_DATABASE_NEWER', `${file} was written by a newer voxmux.`, {
    input: file,
    remedies: ['Update voxmux, or restore the back-up that you made before the update.'],
  })
}

/** Creates the error for a SQLite file of another program. */
export function foreignDatabase(file: string): UsageError {
  return new UsageError('ERR_DATABASE_FOREIGN', `${file} is a database of another program.`, {
    input: file,
    remedies: ['Choose another file. voxmux does not change databases of other programs.'],
  })
}
