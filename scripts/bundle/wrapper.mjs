/** Around the CommonJS code of a file: its whole text is one function, which launcher.cjs calls. */
export const WRAPPER = ['(function (exports, require, module) {', '})'];
