import { chownSync, statSync } from 'node:fs'
import { userInfo } from 'node:os'

/** Gives a new folder to the person who called sudo: root's own folder would take no file of theirs. */
export function giveToCaller(folder: string, { SUDO_UID, SUDO_GID }: NodeJS.ProcessEnv): void {
  const [uid, gid] = [Number(SUDO_UID), Number(SUDO_GID)]
  if (process.getuid?.() === 0 && Number.isInteger(uid) && Number.isInteger(gid)) chownSync(folder, uid, gid)
}

/**
 * The user of a service that writes into a folder: of root's services the folder's owner. The unit takes all
 * privileges away, and without them root cannot write into the folder of another.
 *
 * @returns its name, or its number, which systemd takes too; `isOther` if the state folder of this user is closed to it
 */
export function serviceOwner(folder: string, { SUDO_UID, SUDO_USER }: NodeJS.ProcessEnv) {
  const { uid } = statSync(folder)
  if (process.getuid?.() !== 0 || uid === 0) return { user: userInfo().username, isOther: false }
  return { user: SUDO_USER !== undefined && SUDO_UID === String(uid) ? SUDO_USER : String(uid), isOther: true }
}
