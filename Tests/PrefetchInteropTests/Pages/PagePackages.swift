/// Python scripts that publish a package of each kind on a page's servers (`$origin`).
///
/// They also write the project that needs the package into the working folder, with the same bytes
/// each time.
enum PagePackages {
  static let scripts = [
    ("npm.py", npm), ("pip.py", wheel), ("go.py", module), ("bazel.py", archive),
    ("cargo.py", crate), ("releases.py", releases), ("models.py", models),
  ]

  private static let npm = #"""
    import base64, gzip, hashlib, io, json, os, tarfile
    body = io.BytesIO()
    with gzip.GzipFile(fileobj=body, mode='wb', mtime=0) as packed:
        with tarfile.open(fileobj=packed, mode='w') as archive:
            for name, text in (('package.json', '{"name": "greeting", "version": "1.0.2", "main": "index.js"}'),
                               ('index.js', 'module.exports = "hello"')):
                entry = tarfile.TarInfo('package/' + name)
                entry.size = len(text)
                archive.addfile(entry, io.BytesIO(text.encode()))
    folder = os.environ['origin'] + '/registry.npmjs.org/greeting/-/'
    os.makedirs(folder)
    open(folder + 'greeting-1.0.2.tgz', 'wb').write(body.getvalue())
    integrity = 'sha512-' + base64.b64encode(hashlib.sha512(body.getvalue()).digest()).decode()
    wanted = {'name': 'site', 'version': '1.0.0', 'dependencies': {'greeting': '1.0.2'}}
    json.dump(wanted, open('package.json', 'w'))
    json.dump({'name': 'site', 'version': '1.0.0', 'lockfileVersion': 3, 'requires': True, 'packages': {
        '': wanted, 'node_modules/greeting': {'version': '1.0.2', 'integrity': integrity,
            'resolved': 'https://registry.npmjs.org/greeting/-/greeting-1.0.2.tgz'}}},
        open('package-lock.json', 'w'), indent=2)
    """#

  private static let releases = #"""
    import hashlib, json, os
    origin = os.environ['origin'] + '/git.example.com'
    site = 'https://git.example.com/acme/tool/releases/download/'
    releases = []
    for version, isPrerelease in (('2.0-rc1', True), ('1.10', False), ('1.9', False), ('1.8', False)):
        folder = origin + '/acme/tool/releases/download/v' + version
        os.makedirs(folder)
        files = {'tool-%s-%s.tar.gz' % (version, system): 'tool %s for %s\n' % (version, system)
                 for system in ('linux', 'mac')}
        files['SHA256SUMS'] = ''.join('%s  %s\n' % (hashlib.sha256(text.encode()).hexdigest(), name)
                                      for name, text in files.items())
        for name, text in files.items():
            open(folder + '/' + name, 'w').write(text)
        day = '2026-0%s-01T00:00:00Z' % (9 - len(releases))
        releases.append({'tag_name': 'v' + version, 'draft': False, 'prerelease': isPrerelease,
            'published_at': day, 'assets': [
                {'name': name, 'size': len(text), 'digest': None, 'updated_at': day,
                 'browser_download_url': site + 'v%s/%s' % (version, name)}
                for name, text in files.items()]})
    folder = origin + '/api/v3/repos/acme/tool'
    os.makedirs(folder)
    json.dump(releases, open(folder + '/releases', 'w'))
    """#

  private static let models = #"""
    import hashlib, json, os
    origin = os.environ['origin'] + '/huggingface.co'
    files = {'README.md': '# A tiny model\n', 'config.json': '{"hidden_size": 8}\n',
             'model.safetensors': 'weights ' * 1000, 'pytorch_model.bin': 'tensors ' * 1000}
    commit = hashlib.sha1(b'a commit').hexdigest()
    folder = origin + '/acme/tiny/resolve/' + commit
    os.makedirs(folder)
    nodes = []
    for path, text in files.items():
        open(folder + '/' + path, 'w').write(text)
        node = {'type': 'file', 'path': path, 'size': len(text),
            'oid': hashlib.sha1(b'blob %d\0' % len(text) + text.encode()).hexdigest()}
        if len(text) > 1000:
            node['lfs'] = {'oid': hashlib.sha256(text.encode()).hexdigest(), 'size': len(text)}
        nodes.append(node)
    api = origin + '/api/models/acme/tiny'
    os.makedirs(api + '/revision')
    os.makedirs(api + '/tree')
    json.dump({'id': 'acme/tiny', 'sha': commit, 'siblings': []}, open(api + '/revision/main', 'w'))
    json.dump(nodes, open(api + '/tree/' + commit, 'w'))
    """#

  private static let wheel = #"""
    import hashlib, io, os, zipfile
    name = 'greeting-1.0-py3-none-any.whl'
    body = io.BytesIO()
    info = 'greeting-1.0.dist-info/'
    with zipfile.ZipFile(body, 'w') as wheel:
        for path, text in (('greeting.py', 'text = "hello"\n'),
                           (info + 'METADATA', 'Metadata-Version: 2.1\nName: greeting\nVersion: 1.0\n'),
                           (info + 'WHEEL', 'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n'),
                           (info + 'RECORD', '')):
            wheel.writestr(zipfile.ZipInfo(path), text)
    digest = hashlib.sha256(body.getvalue()).hexdigest()
    origin = os.environ['origin']
    os.makedirs(origin + '/files.pythonhosted.org/packages')
    os.makedirs(origin + '/pypi.org/simple/greeting')
    open(origin + '/files.pythonhosted.org/packages/' + name, 'wb').write(body.getvalue())
    open(origin + '/pypi.org/simple/greeting/index.html', 'w').write(
        '<!DOCTYPE html><html><body><a href="https://files.pythonhosted.org/packages/%s#sha256=%s">%s</a></body></html>'
        % (name, digest, name))
    open('requirements.txt', 'w').write('greeting==1.0 --hash=sha256:%s\n' % digest)
    """#

  private static let module = #"""
    import base64, hashlib, io, os, zipfile
    folder = os.environ['origin'] + '/proxy.golang.org/example.com/greeting/@v/'
    os.makedirs(folder)
    mod = 'module example.com/greeting\n'
    files = {'example.com/greeting@v1.0.0/go.mod': mod,
             'example.com/greeting@v1.0.0/greeting.go': 'package greeting\n\nconst Text = "hello"\n'}
    body = io.BytesIO()
    with zipfile.ZipFile(body, 'w') as archive:
        for name, text in files.items():
            archive.writestr(zipfile.ZipInfo(name), text)
    open(folder + 'v1.0.0.zip', 'wb').write(body.getvalue())
    open(folder + 'v1.0.0.mod', 'w').write(mod)
    open(folder + 'v1.0.0.info', 'w').write('{"Version": "v1.0.0"}')
    def h1(files):
        lines = ''.join(hashlib.sha256(files[n].encode()).hexdigest() + '  ' + n + '\n' for n in sorted(files))
        return 'h1:' + base64.b64encode(hashlib.sha256(lines.encode()).digest()).decode()
    open('go.mod', 'w').write('module site\n\ngo 1.19\n\nrequire example.com/greeting v1.0.0\n')
    open('go.sum', 'w').write('example.com/greeting v1.0.0 ' + h1(files) + '\n'
                              + 'example.com/greeting v1.0.0/go.mod ' + h1({'go.mod': mod}) + '\n')
    open('main.go', 'w').write('package main\n\nimport (\n\t"fmt"\n\n\t"example.com/greeting"\n)\n\n'
                               'func main() { fmt.Println(greeting.Text) }\n')
    """#

  private static let crate = #"""
    import gzip, hashlib, io, json, os, tarfile
    about = '[package]\nname = "greeting"\nversion = "1.0.2"\nedition = "2018"\n'
    body = io.BytesIO()
    with gzip.GzipFile(fileobj=body, mode='wb', mtime=0) as packed:
        with tarfile.open(fileobj=packed, mode='w') as archive:
            for name, text in (('Cargo.toml', about), ('src/lib.rs', 'pub const TEXT: &str = "hello";\n')):
                entry = tarfile.TarInfo('greeting-1.0.2/' + name)
                entry.size, entry.mode = len(text), 0o644
                archive.addfile(entry, io.BytesIO(text.encode()))
    digest = hashlib.sha256(body.getvalue()).hexdigest()
    origin = os.environ['origin']
    folder = origin + '/static.crates.io/crates/greeting'
    os.makedirs(folder)
    open(folder + '/greeting-1.0.2.crate', 'wb').write(body.getvalue())
    os.makedirs(origin + '/index.crates.io/gr/ee')
    open(origin + '/index.crates.io/gr/ee/greeting', 'w').write(json.dumps(
        {'name': 'greeting', 'vers': '1.0.2', 'deps': [], 'features': {}, 'cksum': digest, 'yanked': False}) + '\n')
    os.makedirs('src')
    open('Cargo.toml', 'w').write('[package]\nname = "site"\nversion = "1.0.0"\nedition = "2018"\n'
                                  '[dependencies]\ngreeting = "1"\n')
    open('src/main.rs', 'w').write('fn main() { println!("{}", greeting::TEXT); }\n')
    open('Cargo.lock', 'w').write(
        'version = 3\n\n[[package]]\nname = "greeting"\nversion = "1.0.2"\n'
        'source = "registry+https://github.com/rust-lang/crates.io-index"\nchecksum = "%s"\n\n'
        '[[package]]\nname = "site"\nversion = "1.0.0"\ndependencies = [\n "greeting",\n]\n' % digest)
    """#

  private static let archive = #"""
    import os
    folder = os.environ['origin'] + '/github.com/bazelbuild/rules_greeting/releases/download/1.0/'
    os.makedirs(folder)
    open(folder + 'rules_greeting-1.0.tar.gz', 'w').write('an archive of rules\n')
    """#
}
