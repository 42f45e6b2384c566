/** The watch folder: files that people drop are regenerated, each once, and found again in another folder. */
export type { DaemonEvent, DaemonView, FolderState, FolderView } from './daemon-view.js'
export { isTemporaryName } from './temporary-names.js'
