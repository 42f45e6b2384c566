import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { fileSha256 } from '../../../src/core/file-identity.js'
import type { PackedFile } from './rewrite-zip.js'
import { readZipDirectory } from './zip-directory.js'

/** Checks whether a bundle holds these files as they are now. False if any of them cannot be read. */
export async function holdsFiles(bundle: string, files: readonly PackedFile[]): Promise<boolean> {
  if (files.length === 0) return true
  const isFolder = (await stat(bundle)).isDirectory()
  const held = isFolder ? files.map((file) => isCopy(join(bundle, file.name), file.path)) : [isPacked(bundle, files)]
  return (await Promise.all(held.map((one) => one.catch(() => false)))).every(Boolean)
}

async function isCopy(copy: string, path: string): Promise<boolean> {
  const [one, other] = await Promise.all([stat(copy), stat(path)])
  return one.size === other.size && (await fileSha256(copy)) === (await fileSha256(path))
}

async function isPacked(archive: string, files: readonly PackedFile[]): Promise<boolean> {
  await using file = await open(archive, 'r')
  const entries = new Map((await readZipDirectory(file)).entries.map((entry) => [entry.name, entry]))
  for (const { name, path } of files) {
    const entry = entries.get(name)
    if (!entry || entry.sizeBytes !== (await stat(path)).size || entry.crc32 !== (await fileCrc32(path))) return false
  }
  return true
}

async function fileCrc32(path: string): Promise<number> {
  let crc = 0
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) crc = crc32(chunk, crc)
  return crc
}
