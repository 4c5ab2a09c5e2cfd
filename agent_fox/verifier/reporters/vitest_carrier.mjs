// A reporter of Vitest that reports nothing: before any test it sets the runner, which no option of the command line can.
export default class Carrier {
  onInit(vitest) {
    for (const project of vitest.projects) project.config.runner ??= "AFX_RUNNER";
  }
}
