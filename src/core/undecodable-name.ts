import { readdir } from 'node:fs/promises'
import { dirname, sep } from 'node:path'

/** Node puts this in place of bytes that are not UTF-8, so a path with it may lead to no file. */
export const REPLACEMENT = '\ufffd'

/**
 * Finds the part of a path whose name on the disk is not UTF-8. Node cannot open it by its decoded name.
 *
 * @param path absolute
 * @returns the folder, and the bytes of the name in it; undefined if every name can be decoded
 */
export async function undecodableName(path: string): Promise<{ folder: string; name: Buffer } | undefined> {
  const parts = path.split(sep)
  const broken = parts.findIndex((part) => part.includes(REPLACEMENT))
  if (broken === -1) return undefined
  const folder = dirname(parts.slice(0, broken + 1).join(sep))
  const names = await readdir(folder, { encoding: 'buffer' }).catch(() => [])
  const name = names.find((bytes) => bytes.toString() === parts[broken])
  return name && !Buffer.from(name.toString()).equals(name) ? { folder, name } : undefined
}

/** A name in the quotes of bash, with codes for everything but plain characters: `$'caf\xe9.wav'`. */
export function shellName(name: Buffer): string {
  const codes = [...name].map((byte) => {
    const character = String.fromCharCode(byte)
    return /[\w .,+@=-]/.test(character) ? character : `\\x${byte.toString(16).padStart(2, '0')}`
  })
  return `$'${codes.join('')}'`
}
