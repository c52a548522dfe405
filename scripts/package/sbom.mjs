import { createHash } from 'node:crypto';

/** `pkg:npm/%40scope/name@1.0.0` */
function purlOf({ name, version }) {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

/** The packages that the executables are bundled from, as a CycloneDX 1.5 document, in JSON. */
export function bomOf(version, packages) {
  const components = packages.map((one) => ({
    type: 'library',
    'bom-ref': purlOf(one),
    name: one.name,
    version: one.version,
    licenses: [{ license: { id: one.license } }],
    purl: purlOf(one),
  }));
  const self = `pkg:generic/runner@${version}`;
  const hash = createHash('sha256')
    .update(JSON.stringify([version, components]))
    .digest('hex');
  // Of the content, so that the same release has the same number; in the form of a version 5 UUID.
  const uuid = hash.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-5$3-8$4-$5');
  const document = {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    serialNumber: `urn:uuid:${uuid}`,
    version: 1,
    metadata: {
      component: {
        type: 'application',
        'bom-ref': self,
        name: 'runner',
        version,
        licenses: [{ license: { id: 'MIT' } }],
        purl: self,
      },
    },
    components,
    dependencies: [
      { ref: self, dependsOn: components.map((one) => one.purl) },
      ...components.map((one) => ({ ref: one.purl, dependsOn: [] })),
    ],
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}
