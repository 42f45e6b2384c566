/** A postrender action of nexrender: resolves to the job, whose `output` is the regenerated file. */
declare const action: (job: object, settings: object, action: object, type: string) => Promise<object>
export = action
