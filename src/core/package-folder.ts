import { existsSync } from 'node:fs'

/** Folder of voxmux's package.json: two levels above a folder of `src/`, three above one of `dist/src/`. */
export const PACKAGE_FOLDER: URL = ['../../', '../../../']
  .map((above) => new URL(above, import.meta.url))
  .find((folder) => existsSync(new URL('package.json', folder))) as URL
