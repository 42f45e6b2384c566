/** The watch folder: files that people drop are regenerated, each once, and found again in another folder. */
export { isTemporaryName } from './temporary-names.js'
