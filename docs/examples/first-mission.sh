#!/usr/bin/env bash
# A first Mission with curl: one Organization, one human who owns the Mission, one agent who coordinates it. Needs curl, a
# running service with MWP_OPERATOR_TOKEN, and the same variable here. Run it in the project's folder:
#
#   MWP_OPERATOR_TOKEN=$(openssl rand -hex 24); export MWP_OPERATOR_TOKEN
#   npm start &
#   docs/examples/first-mission.sh
set -euo pipefail

url=${MWP_URL:-http://127.0.0.1:8080}
org=${1:-acme}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mwp() { node "$(dirname "$0")/../../dist/cli/main.js" "$@"; }
# Takes the member of a JSON document on standard input, as in: member receipt.actionId
member() { node -e 'let v = JSON.parse(require("fs").readFileSync(0)); for (const m of process.argv[1].split(".")) v = v[m]; console.log(v)' "$1"; }
operator() { curl -sS --fail-with-body -H "Authorization: Bearer $MWP_OPERATOR_TOKEN" -H 'Content-Type: application/json' "$@"; }
as_olga() { curl -sS --fail-with-body -H "Authorization: Bearer $token" -H 'Content-Type: application/json' "$@"; }

echo '1. An Organization, a human with a key of her own, and an agent with its Card'
operator "$url/v1/operator/organizations" -d "{\"slug\":\"$org\",\"displayName\":\"Acme\"}" | member organizationId
mwp key generate --out "$work/olga.json" > "$work/olga.public"
mwp key register --url "$url" --org "$org" --principal human:urn:acme:olga --name Olga \
  --key-id "$(member keyId < "$work/olga.public")" --public-key "$(member publicKey < "$work/olga.public")" > "$work/olga.registered"
mwp key generate --out "$work/cora.json" > "$work/cora.public"
cat > "$work/card.json" <<CARD
{ "card": {
    "agentId": "urn:acme:cora", "cardVersion": 1, "displayName": "Cora", "status": "active",
    "owner": { "type": "human", "id": "urn:acme:olga" }, "protocolVersions": ["0.1"],
    "endpoints": [{ "transport": "wss", "uri": "wss://agents.acme.example/cora" }],
    "publicKeys": [{ "algorithm": "Ed25519", "validFrom": "2026-01-01T00:00:00Z",
      "keyId": "$(member keyId < "$work/cora.public")", "publicKey": "$(member publicKey < "$work/cora.public")" }],
    "capabilities": [{
      "id": "software.coding", "version": "1.0.0", "constraints": {}, "verifiedEvidence": ["urn:acme:evidence:1"],
      "inputSchema": "https://acme.example/in", "inputSchemaHash": "sha256:$(printf '%064d' 1)",
      "outputSchema": "https://acme.example/out", "outputSchemaHash": "sha256:$(printf '%064d' 2)" }],
    "maxConcurrency": 2 } }
CARD
operator "$url/v1/operator/organizations/$org/agents" -d "@$work/card.json" > "$work/card.answer"

echo '2. Cora opens a session; Olga logs in. Each signs a challenge with her key and gets a token for 15 minutes'
mwp token --url "$url" --org "$org" --principal agent:urn:acme:cora --key "$work/cora.json" --session > "$work/cora.token"
token=$(mwp token --url "$url" --org "$org" --principal human:urn:acme:olga --key "$work/olga.json")

echo '3. She creates a Mission: a signed Command'
group="urn:uuid:$(node -p 'crypto.randomUUID()')"
cat > "$work/draft.json" <<DRAFT
{ "kind": "mission.create", "groupId": "$group", "payload": {
    "missionId": "urn:uuid:$(node -p 'crypto.randomUUID()')", "groupId": "$group", "coordinatorId": "urn:acme:cora",
    "title": "Release 2.0", "objective": "Ship release 2.0",
    "definitionOfDone": [{ "criterionId": "shipped", "description": "It is out", "evidenceRequired": ["human_review"] }],
    "budget": { "modelTokenLimit": 100000 }, "deadline": "2099-01-01T00:00:00Z",
    "approvalPolicy": { "finalHumanApproval": true, "highRiskExecutionApproval": true } } }
DRAFT
mwp sign --principal human:urn:acme:olga --key "$work/olga.json" < "$work/draft.json" > "$work/command.json"
as_olga "$url/v1/orgs/$org/commands" --data-binary "@$work/command.json" > "$work/answer.json"
member receipt.acceptedAt < "$work/answer.json"

echo '4. The answer got lost? The same bytes again give the same receipt, and nothing happens twice'
as_olga "$url/v1/orgs/$org/commands" --data-binary "@$work/command.json" | member duplicate

echo '5. What happened in the Group, in order, each Event signed by the authority'
as_olga "$url/v1/orgs/$org/groups/$(node -p 'encodeURIComponent(process.argv[1])' "$group")/events" |
  node -e 'for (const e of JSON.parse(require("fs").readFileSync(0)).items) console.log(e.sequence, e.kind, e.signature.keyId)'
