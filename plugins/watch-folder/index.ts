/** The watch folder: regenerates every file that is dropped into a folder, once. */

export { countFolders, inotifyWatches } from './folders/inotify-watches.js'
export { type OpenFolderHooks, openFolderHooks } from './hooks/open-folder-hooks.js'
export { SEEN_FILE } from './intake/seen-files.js'
export { Metrics } from './metrics/metrics.js'
export { type OperatorSide, openOperatorSide } from './open-operator-side.js'
export { reloadOnSave } from './reload-on-save.js'
export { type ServiceManagerName, serviceFile } from './service-files.js'
export { WatchDaemon } from './watch-daemon.js'
export { untilDrained, WatchTally } from './watch-once.js'
export type { WatchedFolder } from './watched-folder.js'
export { type FolderFlags, watchedFolders } from './watched-folders.js'
