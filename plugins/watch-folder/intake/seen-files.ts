import { openSqliteFile, type Row } from '../../../src/ledger/database/sqlite-file.js'
import type { TakenFile } from './taken-file.js'

/** A queued file of a group, as it was then. */
export interface SeenFile extends TakenFile {
  readonly group: string
  readonly ino: bigint
  readonly jobId: string
}

/** The mount points of the folders when they were last present. */
export interface SeenMounts {
  /** Mount point of a folder; '' if it was not recorded, null if the folder was never seen. */
  mountOf(group: string, folder: string): string | null
  putMount(group: string, folder: string, mount: string): void
}

/**
 * The files that were queued already. It saves reading them again and tells a rename from a new file. The job store
 * decides what runs twice, so this file may be lost or outdated.
 */
export interface SeenFiles extends SeenMounts {
  get(group: string, path: string): SeenFile | null
  put(files: readonly SeenFile[]): void
  remove(group: string, paths: readonly string[]): void
  withContent(group: string, contentId: string): readonly SeenFile[]
  /** Treats the folders of a group as new ones, wherever they are mounted now. */
  removeMounts(group: string): void
  close(): void
}

/** Name of the index in the state folder. */
export const SEEN_FILE = 'watch.sqlite'

const MIGRATIONS = [
  `
  -- Numbers of the file system are text: an inode may be beyond what SQLite counts to.
  CREATE TABLE files (
    grp TEXT NOT NULL,
    path TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    mtime_ns TEXT NOT NULL,
    ino TEXT NOT NULL,
    content_id TEXT NOT NULL,
    job_id TEXT NOT NULL,
    PRIMARY KEY (grp, path)
  ) WITHOUT ROWID;
  CREATE INDEX files_by_content ON files (grp, content_id);
  CREATE TABLE roots (grp TEXT PRIMARY KEY, dev TEXT NOT NULL, seen_ms INTEGER NOT NULL) WITHOUT ROWID;
  `,
  `
  -- A mount point keeps its name over a restart of the machine, its device has another number.
  CREATE TABLE mounts (grp TEXT NOT NULL, folder TEXT NOT NULL, mount TEXT NOT NULL, PRIMARY KEY (grp, folder)) WITHOUT ROWID;
  -- A group was called as its root.
  INSERT INTO mounts SELECT grp, grp, '' FROM roots;
  DROP TABLE roots;
  `,
]

const SELECT_FILE = 'SELECT grp, path, size_bytes, mtime_ns, ino, content_id, job_id FROM files WHERE grp = ?'

/** Opens or creates the index in a SQLite file. @throws as `openSqliteFile` */
export function openSeenFiles(file: string): SeenFiles {
  // This is written for every file, in the daemon's main loop. Entries lost in a crash are read again.
  const database = openSqliteFile(file, MIGRATIONS, 'crash')
  return {
    get(group, path) {
      const row = database.get(`${SELECT_FILE} AND path = ?`, [group, path])
      return row ? seenFileOf(row) : null
    },
    withContent: (group, contentId) =>
      database.all(`${SELECT_FILE} AND content_id = ?`, [group, contentId]).map(seenFileOf),
    put: (files) =>
      database.transaction(() => {
        for (const { group, path, sizeBytes, mtimeNs, ino, contentId, jobId } of files)
          database.run('INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?)', [
            ...[group, path, sizeBytes, String(mtimeNs), String(ino), contentId, jobId],
          ])
      }),
    remove: (group, paths) =>
      database.transaction(() => {
        for (const path of paths) database.run('DELETE FROM files WHERE grp = ? AND path = ?', [group, path])
      }),
    mountOf(group, folder) {
      const row = database.get('SELECT mount FROM mounts WHERE grp = ? AND folder = ?', [group, folder])
      return row ? String(row.mount) : null
    },
    putMount: (group, folder, mount) => {
      database.run('INSERT OR REPLACE INTO mounts VALUES (?, ?, ?)', [group, folder, mount])
    },
    removeMounts: (group) => {
      database.run('DELETE FROM mounts WHERE grp = ?', [group])
    },
    close: () => database.close(),
  }
}

function seenFileOf(row: Row): SeenFile {
  return {
    group: String(row.grp),
    path: String(row.path),
    sizeBytes: Number(row.size_bytes),
    mtimeNs: BigInt(String(row.mtime_ns)),
    ino: BigInt(String(row.ino)),
    contentId: String(row.content_id),
    jobId: String(row.job_id),
  }
}
