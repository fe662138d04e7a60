/** What runs here, for `/metrics`, hellos and the OpenAPI document. */
export const release = { version: '0.1.0', runtime: `node ${process.versions.node}` } as const;
