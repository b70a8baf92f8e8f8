# bash completion for prefetch; made by `prefetch completion bash`
# Offers the names on standard input that begin with the typed word, whose parts bash has before colons.
_prefetch_offer() {
  local whole=$current place=$COMP_CWORD cut name
  while ((place > 1)) && [[ ${COMP_WORDS[place]} == [:=] || ${COMP_WORDS[place - 1]} == [:=] ]]; do
    [[ ${COMP_WORDS[place - 1]} == '=' && ${COMP_WORDS[place - 2]} == -* ]] && break
    ((place -= 1))
    whole=${COMP_WORDS[place]}$whole
  done
  cut=${whole%"${whole##*[:=]}"}
  while IFS= read -r name; do
    [[ $name == "${whole//\\/}"* ]] || continue
    printf -v name %q "${name#"$cut"}"
    COMPREPLY+=("$name")
  done
}
_prefetch_segments() {
  local name state rest
  while IFS=$'\t' read -r name state rest; do
    if [[ -n $state ]]; then printf '%s\n' "$name"; fi
  done < <("${COMP_WORDS[0]/#\~/$HOME}" status "${given[@]}" 2>/dev/null)
}
_prefetch_items() {
  "${COMP_WORDS[0]/#\~/$HOME}" list --state cached "${given[@]}" 2>/dev/null | head -n 1000 | cut -f 4
}
_prefetch() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local command='' word index=1 operands=0 isOver=
  local -a given=()
  # bash takes `--name=value` for three words.
  if [[ $current == '=' ]]; then
    current=''
  elif [[ $previous == '=' ]]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  while ((index < COMP_CWORD)); do
    word=${COMP_WORDS[index]}
    case $word in
    -c | --config | --set | --profile | --cache-dir | --state-dir | --manifests | --network | --color | --progress | --log-format | --log-file | --splay | -j | --jobs | --jobs-per-host | --deadline | --items | --report | --events | --accept | --allow | --shard | --base-url | --layout | --cut-dirs | --select | --newest | --order | --limit-rate | --provider | --id | --type | --behavior | --quality | --max-age | -o | --output | --sha256 | --under | --segment | --state | --category | --parent | --search | --url | --sort | --critical-age | --forget | --origin | --listen | --allow-origin | --token-file | --ready-fd | --for | --rollback | --from | --format | --at | --user | --output-dir | --pid | --cache | --since | --to | --length | --priority | --generated | --expires | --include | --exclude | --previous | --key | --password-file | --comment | --shell)
      ((index += 1))
      if [[ ${COMP_WORDS[index]} == '=' ]]; then ((index += 1)); fi
      case $word in
      -c | --config | --cache-dir | --state-dir | --profile)
        if ((index < COMP_CWORD)); then given+=("$word" "${COMP_WORDS[index]}"); fi
        ;;
      esac
      ;;
    -* | '=') ;;
    *)
      if [[ -n $isOver ]]; then
        # A word that continues at the cursor is not counted.
        if [[ $word != : && $previous != : && $current != : ]]; then ((operands += 1)); fi
      else
        command+=${command:+ }$word
        case $command in
        event | manifest) ;;
        *) isOver=1 ;;
        esac
      fi
      ;;
    esac
    ((index += 1))
  done
  COMPREPLY=()
  case $previous in
  -c | --config)
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
    return
    ;;
  --set)
    return
    ;;
  --profile)
    return
    ;;
  --cache-dir)
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -d -- "$current")
    return
    ;;
  --state-dir)
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -d -- "$current")
    return
    ;;
  --manifests)
    return
    ;;
  --network)
    mapfile -t COMPREPLY < <(compgen -W 'ethernet wifi cellular ethernet,metered wifi,metered cellular,metered' -- "$current")
    return
    ;;
  --color)
    mapfile -t COMPREPLY < <(compgen -W 'auto always never' -- "$current")
    return
    ;;
  --progress)
    mapfile -t COMPREPLY < <(compgen -W 'auto always never' -- "$current")
    return
    ;;
  --log-format)
    mapfile -t COMPREPLY < <(compgen -W 'text json' -- "$current")
    return
    ;;
  --log-file)
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
    return
    ;;
  --splay)
    return
    ;;
  -j | --jobs)
    return
    ;;
  --jobs-per-host)
    return
    ;;
  --deadline)
    return
    ;;
  --items)
    mapfile -t COMPREPLY < <(compgen -W 'changed all' -- "$current")
    return
    ;;
  --report)
    mapfile -t COMPREPLY < <(compgen -W 'text= json= ndjson= md= junit= prometheus= html=' -- "$current")
    return
    ;;
  --events)
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
    return
    ;;
  --accept)
    mapfile -t COMPREPLY < <(compgen -W 'incomplete nothing unavailable deferred' -- "$current")
    return
    ;;
  --allow)
    mapfile -t COMPREPLY < <(compgen -W 'mass-removal rollback list-change age' -- "$current")
    return
    ;;
  --shard)
    mapfile -t COMPREPLY < <(compgen -W 'env' -- "$current")
    return
    ;;
  --base-url)
    return
    ;;
  --layout)
    mapfile -t COMPREPLY < <(compgen -W 'url basename npm pip go bazel cargo yarn hls hf' -- "$current")
    return
    ;;
  --cut-dirs)
    return
    ;;
  --select)
    return
    ;;
  --newest)
    return
    ;;
  --order)
    mapfile -t COMPREPLY < <(compgen -W 'version natural semver debian date' -- "$current")
    return
    ;;
  --limit-rate)
    return
    ;;
  --provider)
    return
    ;;
  --id)
    return
    ;;
  --type)
    return
    ;;
  --behavior)
    mapfile -t COMPREPLY < <(compgen -W 'all thumbnails none' -- "$current")
    return
    ;;
  --quality)
    mapfile -t COMPREPLY < <(compgen -W 'auto low medium high' -- "$current")
    return
    ;;
  --max-age)
    return
    ;;
  -o | --output)
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
    return
    ;;
  --sha256)
    return
    ;;
  --under)
    return
    ;;
  --segment)
    _prefetch_offer < <(_prefetch_segments)
    return
    ;;
  --state)
    mapfile -t COMPREPLY < <(compgen -W 'pending discovered queued downloading idle paused cached partial failed deleted' -- "$current")
    return
    ;;
  --category)
    return
    ;;
  --parent)
    return
    ;;
  --search)
    return
    ;;
  --url)
    return
    ;;
  --sort)
    mapfile -t COMPREPLY < <(compgen -W 'name url id provider segment state type size fetched validated expires used' -- "$current")
    return
    ;;
  --critical-age)
    return
    ;;
  --forget)
    return
    ;;
  --origin)
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -d -- "$current")
    return
    ;;
  --listen)
    return
    ;;
  --allow-origin)
    return
    ;;
  --token-file)
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
    return
    ;;
  --ready-fd)
    return
    ;;
  --for)
    return
    ;;
  --rollback)
    _prefetch_offer < <(_prefetch_segments)
    return
    ;;
  --from)
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
    return
    ;;
  --format)
    mapfile -t COMPREPLY < <(compgen -W 'yaml json' -- "$current")
    return
    ;;
  --at)
    return
    ;;
  --user)
    return
    ;;
  --output-dir)
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -d -- "$current")
    return
    ;;
  --pid)
    return
    ;;
  --cache)
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -d -- "$current")
    return
    ;;
  --since)
    return
    ;;
  --to)
    return
    ;;
  --length)
    return
    ;;
  --priority)
    return
    ;;
  --generated)
    return
    ;;
  --expires)
    return
    ;;
  --include)
    return
    ;;
  --exclude)
    return
    ;;
  --previous)
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
    return
    ;;
  --key)
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
    return
    ;;
  --password-file)
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
    return
    ;;
  --comment)
    return
    ;;
  --shell)
    mapfile -t COMPREPLY < <(compgen -W 'plain sh github dotenv' -- "$current")
    return
    ;;
  esac
  if [[ $current == -* ]]; then
    case $command in
    '' | run) mapfile -t COMPREPLY < <(compgen -W '-n --dry-run --no-probe --splay --detailed-exitcode -j --jobs --jobs-per-host --deadline --offline --revalidate --refetch --items --report --events --frozen --no-hooks --accept --wait --allow --shard -c --config --set --profile --cache-dir --state-dir --manifests --network --json -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    plan) mapfile -t COMPREPLY < <(compgen -W '--no-probe --splay --detailed-exitcode -j --jobs --jobs-per-host --deadline --offline --revalidate --refetch --items --report --events --frozen --no-hooks --accept --wait --allow --shard -c --config --set --profile --cache-dir --state-dir --manifests --network --json -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    mirror) mapfile -t COMPREPLY < <(compgen -W '--base-url --layout --cut-dirs --adopt --atomic --include-list --select --newest --order --limit-rate -n --dry-run --no-probe --splay --detailed-exitcode -j --jobs --jobs-per-host --deadline --offline --revalidate --refetch --items --report --events --frozen --no-hooks --accept --wait --allow --shard -c --config --set --profile --cache-dir --state-dir --manifests --network --json -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    get) mapfile -t COMPREPLY < <(compgen -W '--provider --id --type --behavior --quality --offline --revalidate --max-age --max-stale -o --output --base-url --sha256 --path -c --config --set --profile --cache-dir --state-dir --manifests --network --json -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    path) mapfile -t COMPREPLY < <(compgen -W '--or-url --under -c --config --set --profile --cache-dir --state-dir --manifests --network --json -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    list) mapfile -t COMPREPLY < <(compgen -W '--segment --state --type --category --parent --search --provider --id --url --locked --unconsumed --identities --sort -c --config --set --profile --cache-dir --state-dir --manifests --network --json -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    status) mapfile -t COMPREPLY < <(compgen -W '--max-age --nagios --critical-age -c --config --set --profile --cache-dir --state-dir --manifests --network --json -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    explain) mapfile -t COMPREPLY < <(compgen -W '-c --config --set --profile --cache-dir --state-dir --manifests --network --json -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    verify) mapfile -t COMPREPLY < <(compgen -W '--repair -c --config --set --profile --cache-dir --state-dir --manifests --network --json -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    gc) mapfile -t COMPREPLY < <(compgen -W '--forget -n --dry-run -c --config --set --profile --cache-dir --state-dir --manifests --network --json -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    serve) mapfile -t COMPREPLY < <(compgen -W '--pull --max-stale --origin --base-url --listen --allow-origin --token-file --events-in --ready-fd --for --events --no-hooks -c --config --set --profile --cache-dir --state-dir --manifests --network --json -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    publish) mapfile -t COMPREPLY < <(compgen -W '--rollback --wait -c --config --set --profile --cache-dir --state-dir --manifests --network --json -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    freeze) mapfile -t COMPREPLY < <(compgen -W '-o --output --check --update --wait -c --config --set --profile --cache-dir --state-dir --manifests --network --json -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    init) mapfile -t COMPREPLY < <(compgen -W '--from --base-url -o --output -c --config --set --profile --cache-dir --state-dir --manifests --network --json -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    check) mapfile -t COMPREPLY < <(compgen -W '--no-secrets -c --config --set --profile --cache-dir --state-dir --manifests --network --json -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    config) mapfile -t COMPREPLY < <(compgen -W '--format --origins --schema -c --config --set --profile --cache-dir --state-dir --manifests --network --json -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    schedule) mapfile -t COMPREPLY < <(compgen -W '--at --user --serve --pull --output-dir -c --config --set --profile --cache-dir --state-dir --manifests --network -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    doctor) mapfile -t COMPREPLY < <(compgen -W '-c --config --set --profile --cache-dir --state-dir --manifests --network --json -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    pause) mapfile -t COMPREPLY < <(compgen -W '--provider -c --config --set --profile --cache-dir --state-dir --manifests --network --json -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    resume) mapfile -t COMPREPLY < <(compgen -W '--provider -c --config --set --profile --cache-dir --state-dir --manifests --network --json -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    lock) mapfile -t COMPREPLY < <(compgen -W '--provider --for --pid -c --config --set --profile --cache-dir --state-dir --manifests --network --json -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    unlock) mapfile -t COMPREPLY < <(compgen -W '--provider --pid -c --config --set --profile --cache-dir --state-dir --manifests --network --json -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    with-lock) mapfile -t COMPREPLY < <(compgen -W '-c --config --set --profile --cache-dir --state-dir --manifests --network -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    rm) mapfile -t COMPREPLY < <(compgen -W '--provider --files-only --keep-thumbnail -c --config --set --profile --cache-dir --state-dir --manifests --network --json -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    import) mapfile -t COMPREPLY < <(compgen -W '--cache --url --provider --id --type -c --config --set --profile --cache-dir --state-dir --manifests --network --json -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    log) mapfile -t COMPREPLY < <(compgen -W '--since -c --config --set --profile --cache-dir --state-dir --manifests --network --json -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    'event start') mapfile -t COMPREPLY < <(compgen -W '-c --config --set --profile --cache-dir --state-dir --manifests --network --json -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    'event stop') mapfile -t COMPREPLY < <(compgen -W '-c --config --set --profile --cache-dir --state-dir --manifests --network --json -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    'event log') mapfile -t COMPREPLY < <(compgen -W '-c --config --set --profile --cache-dir --state-dir --manifests --network --json -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    'event run') mapfile -t COMPREPLY < <(compgen -W '-c --config --set --profile --cache-dir --state-dir --manifests --network -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    'event consume') mapfile -t COMPREPLY < <(compgen -W '--from --to --length --at -c --config --set --profile --cache-dir --state-dir --manifests --network --json -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    'event list') mapfile -t COMPREPLY < <(compgen -W '-c --config --set --profile --cache-dir --state-dir --manifests --network --json -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    'event flush') mapfile -t COMPREPLY < <(compgen -W '-c --config --set --profile --cache-dir --state-dir --manifests --network --json -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    'manifest build') mapfile -t COMPREPLY < <(compgen -W '--base-url -o --output --ndjson --segment --priority --generated --expires --include --exclude --hidden --mime --previous -c --config --set --profile --cache-dir --state-dir --manifests --network -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    'manifest check') mapfile -t COMPREPLY < <(compgen -W '--base-url --key -c --config --set --profile --cache-dir --state-dir --manifests --network -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    'manifest sign') mapfile -t COMPREPLY < <(compgen -W '--key --password-file --generated --expires --comment -c --config --set --profile --cache-dir --state-dir --manifests --network -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    subscribe) mapfile -t COMPREPLY < <(compgen -W '--only --no-run -j --jobs --jobs-per-host --deadline --offline --revalidate --refetch --items --report --events --frozen --no-hooks --accept --wait --allow --shard -c --config --set --profile --cache-dir --state-dir --manifests --network --json -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    unsubscribe) mapfile -t COMPREPLY < <(compgen -W '--all --no-run -j --jobs --jobs-per-host --deadline --offline --revalidate --refetch --items --report --events --frozen --no-hooks --accept --wait --allow --shard -c --config --set --profile --cache-dir --state-dir --manifests --network --json -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    register) mapfile -t COMPREPLY < <(compgen -W '-c --config --set --profile --cache-dir --state-dir --manifests --network --json -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    notify) mapfile -t COMPREPLY < <(compgen -W '-j --jobs --jobs-per-host --deadline --offline --revalidate --refetch --items --report --events --frozen --no-hooks --accept --wait --allow --shard -c --config --set --profile --cache-dir --state-dir --manifests --network --json -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    network) mapfile -t COMPREPLY < <(compgen -W '-c --config --set --profile --cache-dir --state-dir --manifests --network --json -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    pins) mapfile -t COMPREPLY < <(compgen -W '-c --config --set --profile --cache-dir --state-dir --manifests --network --json -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    stats) mapfile -t COMPREPLY < <(compgen -W '-c --config --set --profile --cache-dir --state-dir --manifests --network --json -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    export) mapfile -t COMPREPLY < <(compgen -W '--new -c --config --set --profile --cache-dir --state-dir --manifests --network --json -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    env) mapfile -t COMPREPLY < <(compgen -W '--shell --strict -c --config --set --profile --cache-dir --state-dir --manifests --network -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    completion) mapfile -t COMPREPLY < <(compgen -W '-c --config --set --profile --cache-dir --state-dir --manifests --network -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    help) mapfile -t COMPREPLY < <(compgen -W '--all -c --config --set --profile --cache-dir --state-dir --manifests --network -q --quiet -v --verbose --color --progress --log-format --log-file -V --version -h --help' -- "$current") ;;
    esac
    return
  fi
  case $command in
  '') mapfile -t COMPREPLY < <(compgen -W 'run plan mirror get path list status explain verify gc serve publish freeze init check config schedule doctor pause resume lock unlock with-lock rm import log event manifest subscribe unsubscribe register notify network pins stats export env completion help' -- "$current") ;;
  run) _prefetch_offer < <(_prefetch_segments) ;;
  plan) _prefetch_offer < <(_prefetch_segments) ;;
  mirror) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
  get) _prefetch_offer < <(_prefetch_items) ;;
  path) if ((operands == 0)); then _prefetch_offer < <(_prefetch_items); fi ;;
  explain) if ((operands == 0)); then _prefetch_offer < <(_prefetch_items); fi ;;
  publish) _prefetch_offer < <(_prefetch_segments) ;;
  freeze) _prefetch_offer < <(_prefetch_segments) ;;
  schedule) if ((operands == 0)); then mapfile -t COMPREPLY < <(compgen -W 'systemd cron' -- "$current"); fi ;;
  pause) _prefetch_offer < <(_prefetch_items) ;;
  resume) _prefetch_offer < <(_prefetch_items) ;;
  lock) _prefetch_offer < <(_prefetch_items) ;;
  unlock) _prefetch_offer < <(_prefetch_items) ;;
  rm) _prefetch_offer < <(_prefetch_items) ;;
  log) if ((operands == 0)); then _prefetch_offer < <(_prefetch_segments); fi ;;
  'event consume') if ((operands == 0)); then _prefetch_offer < <(_prefetch_items); fi ;;
  'manifest build') if ((operands == 0)); then compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "$current"); fi ;;
  'manifest check') if ((operands == 0)); then compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$current"); fi ;;
  'manifest sign') if ((operands == 0)); then compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$current"); fi ;;
  unsubscribe) _prefetch_offer < <(_prefetch_segments) ;;
  env) _prefetch_offer < <(_prefetch_segments) ;;
  completion) if ((operands == 0)); then mapfile -t COMPREPLY < <(compgen -W 'bash zsh fish' -- "$current"); fi ;;
  help) if ((operands == 0)); then mapfile -t COMPREPLY < <(compgen -W 'run plan mirror get path list status explain verify gc serve publish freeze init check config schedule doctor pause resume lock unlock with-lock rm import log event manifest subscribe unsubscribe register notify network pins stats export env completion help everyday items events publisher machines exit-codes' -- "$current"); fi ;;
  event) mapfile -t COMPREPLY < <(compgen -W 'start stop log run consume list flush' -- "$current") ;;
  manifest) mapfile -t COMPREPLY < <(compgen -W 'build check sign' -- "$current") ;;
  esac
}
complete -F _prefetch prefetch
