export SECRET=$(python3 -c "import base64, os; print('whsec_' + base64.b64encode(os.urandom(32)).decode())")
python3 webhook_bot.py &
./stb bots check http://127.0.0.1:9000/reply --protocol webhook --secret-from SECRET