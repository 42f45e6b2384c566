import { chownSync, statSync } from 'node:fs'
import { userInfo } from 'node:os'

/** Gives a new folder to the person who called sudo: root's own folder would take no file of theirs. */
export function giveToCaller(folder: string, { SUDO_UID, SUDO_GID }: NodeJS.ProcessEnv): void {
  const [uid, gid] = [Number(SUDO_UID), Number(SUDO_GID)]
  if (process.getuid?.() === 0 && Number.isInteger(uid) && Number.isInteger(gid)) chownSync(folder, uid, gid)
}

/** The user of a service. */
interface ServiceOwner {
  /** Name, or number if the name is not known. systemd takes both. */
  readonly user: string
  /** It is not the user who runs this command, whose state folder is closed to it. */
  readonly isOther: boolean
}

/**
 * The user of a service that writes into a folder: of root's services the folder's owner. The unit takes all
 * privileges away, and without them root cannot write into the folder of another.
 */
export function serviceOwner(folder: string, { SUDO_UID, SUDO_USER }: NodeJS.ProcessEnv): ServiceOwner {
  const { uid } = statSync(folder)
  if (process.getuid?.() !== 0 || uid === 0) return { user: userInfo().username, isOther: false }
  return { user: SUDO_USER !== undefined && SUDO_UID === String(uid) ? SUDO_USER : String(uid), isOther: true }
}
