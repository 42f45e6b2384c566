import type { FileTree } from './file-tree.js'
import type { Disk } from './inode.js'
import type { Random } from './random.js'

/**
 * What a power cut does to a disk: it takes back the last changes of names that no folder was synced after, and leaves
 * of bytes that were not synced all, a beginning, or nothing.
 */
export function cutPower(disk: Disk, tree: FileTree, random: Random): void {
  const kept = random.below(disk.unsynced.length + 1)
  for (const takeBack of disk.unsynced.splice(0).slice(kept).reverse()) takeBack()
  for (const [, file] of tree.allFiles()) {
    if (file.disk !== disk || file.maker === 'person' || file.synced === file.bytes) continue
    const before = file.synced ?? Buffer.alloc(0)
    const half = file.bytes.subarray(0, random.below(file.bytes.length + 1))
    file.bytes = random.pick([file.bytes, half, before])
    file.synced = file.bytes
  }
}
