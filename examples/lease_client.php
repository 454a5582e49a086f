<?php
// Acquires, renews and releases a lease of `flakeid serve`. A worker that lives longer renews when a
// third of its window is used, and generates IDs as the other clients do.

function ask(string $method, string $url, array $body): ?array
{
    $http = [
        'method' => $method,
        'header' => 'Content-Type: application/json',
        'content' => json_encode($body),
        'timeout' => 1,
    ];
    $reply = file_get_contents($url, false, stream_context_create(['http' => $http]));
    if ($reply === false) {
        throw new RuntimeException("$method $url failed");
    }
    return json_decode($reply, true);
}

function now_ms(): int
{
    return (int) (microtime(true) * 1000);
}

$leases = '/v1/default/leases';
$token = bin2hex(random_bytes(16));
$grant = ask('POST', "http://localhost:7117$leases", ['now' => now_ms(), 'token' => $token]);
echo "node {$grant['node']}, from tick {$grant['start']} to {$grant['fence']}\n";

// Renewals go to the broker that granted the node, each with a new second half of the token.
$url = "{$grant['broker']}$leases/{$grant['node']}";
$next = substr($grant['token'], 0, 16) . bin2hex(random_bytes(8));
$renewed = ask('PATCH', $url, [
    'start' => $grant['start'],
    'token' => $grant['token'],
    'next' => $next,
    'confirmed' => $grant['fence'],
    'wanted' => $grant['fence'] + 1000,
    'now' => now_ms(),
    'broker' => $grant['broker'],
]);
echo "until tick {$renewed['fence']}\n";

// `used_until` is the tick after the last tick of which an ID was generated.
ask('DELETE', $url, ['token' => $next, 'used_until' => $grant['start']]);
