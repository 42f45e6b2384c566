/** `voxmux ui`: one file at a time, in a browser page of this machine. */
export { startUi, type Ui } from './start-ui.js'
