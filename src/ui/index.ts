/** `voxmux ui`: one file at a time, in a browser page of this machine. */
export { startUi, type Ui, type UiOptions } from './start-ui.js'
