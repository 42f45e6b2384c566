import { openDatabase, type Row } from './database.js'

/** A file of a group that was queued, as it stood then. */
export interface SeenFile {
  readonly group: string
  /** Within the group's folder. */
  readonly path: string
  readonly sizeBytes: number
  readonly mtimeNs: bigint
  readonly ino: bigint
  /** What its content is known by. */
  readonly contentId: string
  readonly jobId: string
}

/** The folder of a group, as it was when it was last there. */
export interface SeenRoot {
  readonly dev: bigint
  /** Unix milliseconds. */
  readonly seenMs: number
}

/**
 * Which files of which folders were queued already. It spares reading them again and tells a rename from a new file;
 * the job store decides what is done twice, so that this file may be lost, or be older than the truth.
 */
export interface SeenFiles {
  get(group: string, path: string): SeenFile | null
  put(files: readonly SeenFile[]): void
  remove(group: string, paths: readonly string[]): void
  withContent(group: string, contentId: string): readonly SeenFile[]
  root(group: string): SeenRoot | null
  putRoot(group: string, root: SeenRoot): void
  close(): void
}

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
]

const SELECT_FILE = 'SELECT grp, path, size_bytes, mtime_ns, ino, content_id, job_id FROM files WHERE grp = ?'

/** Opens (or makes) the index in a SQLite file. @throws as `openDatabase` does */
export function openSeenFiles(file: string): SeenFiles {
  // Written for every file, in the loop that does all else: what is lost is read again.
  const database = openDatabase(file, MIGRATIONS, 'crash')
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
    root(group) {
      const row = database.get('SELECT dev, seen_ms FROM roots WHERE grp = ?', [group])
      return row ? { dev: BigInt(String(row.dev)), seenMs: Number(row.seen_ms) } : null
    },
    putRoot: (group, { dev, seenMs }) => {
      database.run('INSERT OR REPLACE INTO roots VALUES (?, ?, ?)', [group, String(dev), seenMs])
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
